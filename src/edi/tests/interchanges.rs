use super::*;

fn keys(text: impl AsRef<[u8]>) -> Vec<String> {
    let document = read(None, text.as_ref()).unwrap();
    document.documents().into_iter().map(|one| one.unwrap().key.to_string()).collect()
}

/// The same interchange with other separators; its values must hold none of them.
fn separated(text: &str, component: char, element: char, release: char, terminator: char) -> String {
    let text = text.strip_prefix("UNA:+.? '").unwrap();
    let mut other = format!("UNA{component}{element}.{release} {terminator}");
    let mut free = false;
    for c in text.chars().filter(|c| *c != '\n') {
        match c {
            _ if std::mem::take(&mut free) => other.push(c),
            '?' => free = true,
            ':' => other.push(component),
            '+' => other.push(element),
            '\'' => other.push(terminator),
            _ => other.push(c),
        }
    }
    other
}

#[test]
fn an_edifact_message_is_known_by_sender_code_number_and_function() {
    assert_eq!(key(INVOIC), "edifact:14:5798000000001/380:BP-2026-0117:9");
    let document = read(None, INVOIC.as_bytes()).unwrap();
    let interchange = document.interchange_key().unwrap();
    assert_eq!(interchange.to_string(), "edifact-interchange:14:5798000000001:14:5798000000018/BP0117");
    let business = document.business().unwrap();
    assert_eq!((business.kind, business.date.as_deref()), (Kind::Invoice, Some("2026-11-02")));
    assert_eq!(business.control, ["BP0117", "1"]);
    // A cancellation, a replacement and another sender are others; a new interchange is not.
    for (from, to) in [
        ("0117+9'", "0117+1'"),
        ("0117+9'", "0117+5'"),
        ("0117+9'", "0117'"),
        ("001:14+", "001:ZZ+"),
        ("+380+", "+384+"),
    ] {
        assert_ne!(key(changed(INVOIC, from, to)), key(INVOIC), "{to}");
    }
    assert_eq!(key(changed(INVOIC, "+BP0117", "+BP0999")), key(INVOIC));
}

#[test]
fn number_alone_or_in_c106_and_several_messages() {
    assert_eq!(
        keys(TWO),
        ["edifact:14:5798000000001/380:BP-2026-0118:9", "edifact:14:5798000000001/381:K%2BL%27N%20%3A%207%2F%3F:9"]
    );
    assert_eq!(key(changed(INVOIC, "BP-2026-0117+9", "BP-2026-0117:1:2+9")), key(INVOIC));
    let document = read(None, TWO.as_bytes()).unwrap();
    assert_eq!(document.business_key(), Err(NoKey::Several(2)));
    let kinds: Vec<Kind> = document.documents().into_iter().map(|one| one.unwrap().kind).collect();
    assert_eq!(kinds, [Kind::Invoice, Kind::CreditNote]);
    assert_eq!(document.kind(), Kind::Other);
    assert!(acknowledgements(&document).is_empty());
}

#[test]
fn separators_line_ends_and_marks_do_not_count() {
    for (component, element, release, terminator) in
        [('\u{1F}', '\u{1D}', ' ', '\u{1C}'), ('>', '|', '\\', '~'), (':', '+', '?', '\n'), ('^', '*', ' ', '\r')]
    {
        assert_eq!(key(separated(INVOIC, component, element, release, terminator)), key(INVOIC), "{terminator:?}");
    }
    for text in [
        changed(INVOIC, "\n", "\r\n"),
        changed(INVOIC, "\n", ""),
        changed(INVOIC, "UNA:+.? '\n", ""),
        format!("\u{FEFF}{INVOIC}"),
        format!("\r\n\t {INVOIC}\u{1A}"),
        // Wrapped at fixed columns, even within a number and behind a release character.
        changed(INVOIC, "BP-2026-0117", "BP-20\r\n26-0117").replace("?:", "?\n:"),
    ] {
        assert_eq!(key(&text), key(INVOIC), "{text}");
    }
    // A released release character releases nothing.
    assert_eq!(key(changed(INVOIC, "SPECIMEN?:", "SPECIMEN??")), key(INVOIC));
    assert_eq!(key(changed(INVOIC, "BRUNNENGASSE 5+", "WHAT??+")), key(INVOIC));
    assert_eq!(key(changed(INVOIC, "1010+AT'", "1010+AT??'")), key(INVOIC));
    let level_b = separated(INVOIC, '\u{1F}', '\u{1D}', ' ', '\u{1C}');
    let level_b = changed(&changed(&level_b, "UNOC", "UNOB"), "UNA\u{1F}\u{1D}.  \u{1C}", "");
    assert_eq!(key(level_b), key(INVOIC));
}

#[test]
fn values_are_read_in_the_character_set_of_0001() {
    let text = changed(INVOIC, "BP-2026-0117+9", "K#-1+9");
    let number = |syntax: &str, octets: &[u8]| {
        let text = changed(&text, "UNOC", syntax);
        let at = text.find('#').unwrap();
        key([&text.as_bytes()[..at], octets, &text.as_bytes()[at + 1..]].concat())
    };
    let umlaut = "edifact:14:5798000000001/380:K%C3%B6-1:9";
    assert_eq!(number("UNOC", b"\xF6"), umlaut);
    assert_eq!(number("UNOD", b"\xF6"), umlaut);
    assert_eq!(number("UNOY", "ö".as_bytes()), umlaut);
    assert_eq!(number("UNOA", b"\xF6"), umlaut);
    assert_eq!(number("UNOA", "ö".as_bytes()), umlaut);
    assert_eq!(number("UNOE", b"\xD6"), "edifact:14:5798000000001/380:K%D0%B6-1:9");
    let bad = changed(&text, "UNOC", "UNOY").replace('#', "\u{7F}");
    let bad: Vec<u8> = bad.bytes().map(|b| if b == 0x7F { 0xF6 } else { b }).collect();
    assert_eq!(refused(bad), "segment 3 BGM: element 2 holds `K\\xf6-1`, which 0001 does not allow");
    assert_eq!(refused(changed(INVOIC, "UNOC", "KECA")), "segment 1 UNB: 0001 `KECA` is no syntax level that is read");
}

#[test]
fn wrong_counts_and_orders_are_reasons() {
    for (from, to, reason) in [
        ("UNT+36+1", "UNT+99+1", "segment 37 UNT: 0074 says `99` segments, there are 36"),
        ("UNT+36+1", "UNT++1", "segment 37 UNT: 0074 says `` segments, there are 36"),
        ("UNT+36+1", "UNT+36+2", "segment 37 UNT: 0062 is `2`, but began as `1`"),
        ("UNZ+1+", "UNZ+2+", "segment 38 UNZ: 0036 says `2` messages, there are 1"),
        ("UNZ+1+BP0117", "UNZ+1+BP0118", "segment 38 UNZ: 0020 is `BP0118`, but began as `BP0117`"),
        ("UNT+36+1'", "", "segment 37 UNZ: stands before the UNT of message 1"),
        ("UNH+1+INVOIC:D:96A:UN:EAN008'", "", "segment 2 BGM: stands outside a message"),
        ("+BP0117++", "+++", "segment 1 UNB: 0020 is missing"),
        ("UNB+UNOC:3+5798000000001:14", "UNB+UNOC:3+:14", "segment 1 UNB: S002/0004 is missing"),
        ("UNZ+1+BP0117'", "UNZ+1+BP0117'UNB+UNOC:3'", "segment 39 UNB: stands after UNZ"),
        ("UNZ+1+BP0117'", "UNZ+1+BP0117'rubbish", "segment 39 ?: octets after UNZ"),
        ("UNA:+.? '", "UNA::.? '", "UNA, octet 3: `:` stands for two separators"),
        ("UNA:+.? '", "UNAA+.? '", "UNA, octet 3: `A` cannot be a separator"),
        ("UNA:+.? '", "UNA\n+.? '", "UNA, octet 3: the line end `\\n` can only be the terminator"),
        ("BGM+380", "XXX+380", "message 1 INVOIC has no business key: its BGM has no 1004"),
    ] {
        let text = changed(INVOIC, from, to);
        let found = match read(None, text.as_bytes()) {
            Ok(document) => document.business_key().unwrap_err().to_string(),
            Err(reason) => reason.to_string(),
        };
        assert!(found.contains(reason), "{to}: {found}");
    }
    let cut = read(None, INVOIC.strip_suffix("UNZ+1+BP0117'\n").unwrap().as_bytes()).unwrap_err();
    assert!(cut.wants_more() && cut.to_string().ends_with("before UNZ, after segment 37"), "{cut}");
    let long = changed(INVOIC, "BP-2026-0117+9", &format!("{}+9", "7".repeat(300)));
    assert_eq!(refused(long), "segment 3 BGM: element 2 is longer than 256 octets");
    let endless = changed(INVOIC, "BP-2026-0117+9", &"7".repeat(70_000));
    assert_eq!(refused(endless), "segment 3 BGM: is longer than 65536 octets");
}

#[test]
fn a_test_interchange_is_known_as_one() {
    let test = |text: &str| match read(None, text.as_bytes()).unwrap() {
        Document::Edifact(interchange) => interchange.test,
        Document::X12(interchange) => interchange.test,
        other => panic!("{other:?}"),
    };
    assert!(!test(INVOIC) && test(&changed(INVOIC, "++INVOIC'", "++INVOIC++++1'")));
    assert!(test(F810) && !test(&changed(F810, "*0*T*", "*0*P*")));
}

#[test]
fn functional_groups_are_counted() {
    let grouped = changed(INVOIC, "UNH+1", "UNG+INVOIC+A+B+261102:1015+7+UN+D:96A'\nUNH+1");
    assert_eq!(key(changed(&grouped, "UNZ+1", "UNE+1+7'\nUNZ+1")), key(INVOIC));
    for (end, reason) in [
        ("UNE+1+7'\nUNZ+2", "0036 says `2` groups, there are 1"),
        ("UNE+2+7'\nUNZ+1", "UNE: 0060 says `2` messages, there are 1"),
        ("UNE+1+8'\nUNZ+1", "UNE: 0048 is `8`, but began as `7`"),
        ("UNE+1+7'\nUNE+1+7'\nUNZ+1", "UNE: stands outside a group"),
        ("UNG+INVOIC+A+B+261102:1015+8+UN'\nUNZ+1", "UNG: stands before the UNE of the group before"),
        ("UNZ+1", "UNZ: stands before the UNE of group 7"),
    ] {
        let found = refused(changed(&grouped, "UNZ+1", end));
        assert!(found.contains(reason), "{found}");
    }
}

#[test]
fn an_x12_set_is_known_by_sender_type_number_and_date() {
    assert_eq!(key(F810), "x12:ZZ:BLUEPUMPS/810:DI::BP-2026-0117::2026-11-02");
    let document = read(None, F810.as_bytes()).unwrap();
    assert_eq!(
        document.interchange_key().unwrap().to_string(),
        "x12-interchange:ZZ:BLUEPUMPS:ZZ:REDWATERWORKS/000000001"
    );
    let business = document.business().unwrap();
    assert_eq!((business.kind, business.type_code.as_str()), (Kind::Invoice, "810"));
    assert_eq!(business.control, ["000000001", "1", "0001"]);
    for (from, to) in [
        ("***DI~", "***CR~"),
        ("***DI~", "***DI*01~"),
        ("BIG*20261102", "BIG*20261103"),
        ("*ZZ*BLUEPUMPS ", "*12*BLUEPUMPS "),
        ("*BP-2026-0117*", "*BP-2026-0118*"),
    ] {
        assert_ne!(key(changed(F810, from, to)), key(F810), "{to}");
    }
    // Control numbers wrap around: they are not in it.
    assert_eq!(key(changed(F810, "000000001", "000000777")), key(F810));
}

#[test]
fn separators_stand_where_isa_has_them() {
    let other = |element: &str, component: &str, terminator: &str| {
        F810.replace('*', element).replace('>', component).replace("~\n", terminator)
    };
    for text in [
        other("|", "\u{1F}", "\u{15}"),
        other("*", ">", "\n"),
        other("*", ">", "\r\n"),
        other("^", ":", "~\r\n\r\n"),
        format!("\u{FEFF}  {F810}"),
    ] {
        assert_eq!(key(&text), key(F810), "{text}");
    }
    for (from, to, reason) in [
        (
            "*ZZ*BLUEPUMPS      *",
            "*ZZ*BLUEPUMPS     *",
            "ISA, octet 50: the element separator `*` should stand here, not `Z`",
        ),
        ("*T*>~", "*T*~~", "ISA, octet 103: `~` stands for two separators"),
        ("SE*20*", "SE*21*", "segment 22 SE: SE01 says `21` segments, there are 20"),
        ("SE*20*0001", "SE*20*0002", "segment 22 SE: SE02 is `0002`, but began as `0001`"),
        ("GE*1*1", "GE*2*1", "segment 23 GE: GE01 says `2` transaction sets, there are 1"),
        ("GE*1*1", "GE*1*2", "segment 23 GE: GE02 is `2`, but began as `1`"),
        ("IEA*1*", "IEA*3*", "segment 24 IEA: IEA01 says `3` groups, there are 1"),
        ("IEA*1*000000001", "IEA*1*000000002", "segment 24 IEA: IEA02 is `000000002`"),
        ("GS*IN*", "GX*IN*", "segment 2 GX: stands outside a transaction set"),
        ("*BP-2026-0117*", "**", "segment 4 BIG: element 2 is missing"),
    ] {
        let found = refused(changed(F810, from, to));
        assert!(found.contains(reason), "{to}: {found}");
    }
    assert!(read(None, &F810.as_bytes()[..90]).unwrap_err().wants_more());
    assert!(read(None, &F810.as_bytes()[..600]).unwrap_err().wants_more());
}

#[test]
fn orders_and_ship_notices_have_their_own_segments() {
    let set = |kind: &str, segment: &str| {
        let isa = F810.split_inclusive('~').next().unwrap();
        format!("{isa}GS*PO*A*B*20261102*1015*1*X*004010~ST*{kind}*0001~{segment}~SE*3*0001~GE*1*1~IEA*1*000000001~")
    };
    let of = |kind: &str, segment: &str| key(set(kind, segment)).split_once('/').unwrap().1.to_owned();
    assert_eq!(of("850", "BEG*00*SA*PO80215**20261001"), "850:SA:00:PO80215::2026-10-01");
    assert_eq!(of("850", "BEG*00*RL*PO80215*7*20261001"), "850:RL:00:PO80215:7:2026-10-01");
    assert_eq!(of("855", "BAK*00*AC*PO80215*20261002"), "855:AC:00:PO80215::2026-10-02");
    assert_eq!(of("856", "BSN*00*S-1*20261003*1200"), "856::00:S-1::2026-10-03");
    assert_eq!(of("856", "BSN*00*S-1*261003*1200"), "856::00:S-1::261003");
    assert_eq!(of("856", "BSN*00*S-1*2026100399*1200"), "856::00:S-1::2026100399");
    let other = read(None, set("820", "BPR*C*1").as_bytes()).unwrap();
    let reason = other.business_key().unwrap_err().to_string();
    assert_eq!(reason, "transaction set 0001 820 has no business key: no BIG02, BEG03, BAK03 or BSN02");
    assert_eq!(other.kind(), Kind::Other);
    assert!(other.interchange_key().is_some());
}
