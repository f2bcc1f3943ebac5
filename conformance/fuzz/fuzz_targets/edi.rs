#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| postrider_conformance::hostile::edi(octets));
