//! Every code of the standards, as data (EB-080, EB-081).

use std::borrow::Cow;

use super::{Code, Entry, Severity, Source};

macro_rules! table {
    ($($name:ident $code:literal $short:literal $severity:ident $category:literal $origin:literal $source:ident $meaning:literal;)*) => {
        /// Names in words for the codes of the table.
        impl Code {
            $(
                #[doc = concat!("`EBMS:", $code, "` ", $short, ": ", $meaning)]
                pub const $name: Self = Self(Cow::Borrowed(concat!("EBMS:", $code)));
            )*
        }

        /// The codes of ebMS3 Core, AS4 and Part 2, and one that partners are known to send.
        pub static TABLE: &[Entry] = &[$(
            Entry {
                code: Code::$name,
                short_description: $short,
                severity: Severity::$severity,
                category: $category,
                origin: $origin,
                source: Source::$source,
                meaning: $meaning,
            },
        )*];
    };
}

table! {
    VALUE_NOT_RECOGNIZED "0001" "ValueNotRecognized" Failure "Content" "ebMS" Core
        "Although the message is well formed, an element or attribute holds a value that could not be recognised.";
    FEATURE_NOT_SUPPORTED "0002" "FeatureNotSupported" Warning "Content" "ebMS" Core
        "Although the message is well formed, a feature that an element or attribute asks for is not supported.";
    VALUE_INCONSISTENT "0003" "ValueInconsistent" Failure "Content" "ebMS" Core
        "Although the message is well formed, a value contradicts another value or its own rule.";
    OTHER "0004" "Other" Failure "Content" "ebMS" Core
        "Although the message is well formed, an error that no other code names was met while processing it.";
    CONNECTION_FAILURE "0005" "ConnectionFailure" Failure "Communication" "ebMS" Core
        "The connection to the partner's message service could not be opened or broke.";
    EMPTY_MESSAGE_PARTITION_CHANNEL "0006" "EmptyMessagePartitionChannel" Warning "Communication" "ebMS" Core
        "The channel holds no message to pull.";
    MIME_INCONSISTENCY "0007" "MimeInconsistency" Failure "Unpackaging" "ebMS" Core
        "The MIME packaging contradicts the packaging rules or the header.";
    FEATURE_NOT_SUPPORTED_IN_PACKAGING "0008" "FeatureNotSupported" Failure "Unpackaging" "ebMS" Core
        "A packaging feature that the message relies on is not supported.";
    INVALID_HEADER "0009" "InvalidHeader" Failure "Unpackaging" "ebMS" Core
        "The ebMS header is not well formed or not valid against its schema.";
    PROCESSING_MODE_MISMATCH "0010" "ProcessingModeMismatch" Failure "Processing" "ebMS" Core
        "The message agrees with no processing mode, or contradicts the one it names.";
    EXTERNAL_PAYLOAD_ERROR "0011" "ExternalPayloadError" Failure "Content" "ebMS" Core
        "A payload that is no part of the message could not be resolved.";
    FAILED_AUTHENTICATION "0101" "FailedAuthentication" Failure "Processing" "security" Core
        "The signature or the credentials could not be validated.";
    FAILED_DECRYPTION "0102" "FailedDecryption" Failure "Processing" "security" Core
        "The encrypted data could not be decrypted.";
    POLICY_NONCOMPLIANCE "0103" "PolicyNoncompliance" Failure "Processing" "security" Core
        "The message does not meet the agreed security policy.";
    DYSFUNCTIONAL_RELIABILITY "0201" "DysfunctionalReliability" Failure "Processing" "reliability" Core
        "The reliability function is not able to work as agreed.";
    DELIVERY_FAILURE "0202" "DeliveryFailure" Failure "Communication" "reliability" Core
        "The message could not be delivered although delivery was promised.";
    MISSING_RECEIPT "0301" "MissingReceipt" Failure "Communication" "ebMS" As4
        "No receipt arrived for a message in the agreed time.";
    INVALID_RECEIPT "0302" "InvalidReceipt" Failure "Communication" "ebMS" As4
        "A receipt arrived that does not match the message that was sent.";
    DECOMPRESSION_FAILURE "0303" "DecompressionFailure" Failure "Communication" "ebMS" As4
        "A compressed payload could not be decompressed.";
    ROUTING_FAILURE "0020" "RoutingFailure" Failure "Processing" "ebMS" Part2
        "An intermediary could not route the message and stopped processing it.";
    MPC_CAPACITY_EXCEEDED "0021" "MPCCapacityExceeded" Failure "Processing" "ebMS" Part2
        "The message cannot be kept because its channel is full.";
    MESSAGE_PERSISTENCE_TIMEOUT "0022" "MessagePersistenceTimeout" Failure "Processing" "ebMS" Part2
        "An intermediary kept the message for the longest agreed time and then gave it up.";
    MESSAGE_EXPIRED "0023" "MessageExpired" Warning "Processing" "ebMS" Part2
        "An intermediary saw that the message's life time ended.";
    BUNDLING_ERROR "0030" "BundlingError" Failure "Content" "ebMS" Part2
        "The bundle of message units is not built as the rules ask.";
    RELATED_MESSAGE_FAILED "0031" "RelatedMessageFailed" Failure "Processing" "ebMS" Part2
        "The unit was not processed because a related unit of the bundle failed.";
    BAD_FRAGMENT_GROUP "0040" "BadFragmentGroup" Failure "Content" "ebMS" Part2
        "The fragment belongs to a group that was refused before.";
    DUPLICATE_MESSAGE_SIZE "0041" "DuplicateMessageSize" Failure "Content" "ebMS" Part2
        "Another fragment of the group gave the message size already.";
    DUPLICATE_FRAGMENT_COUNT "0042" "DuplicateFragmentCount" Failure "Content" "ebMS" Part2
        "Another fragment of the group gave the fragment count already.";
    DUPLICATE_MESSAGE_HEADER "0043" "DuplicateMessageHeader" Failure "Content" "ebMS" Part2
        "Another fragment of the group gave the message header already.";
    DUPLICATE_ACTION "0044" "DuplicateAction" Failure "Content" "ebMS" Part2
        "Another fragment of the group gave the action already.";
    DUPLICATE_COMPRESSION_INFO "0045" "DuplicateCompressionInfo" Failure "Content" "ebMS" Part2
        "Another fragment of the group gave the compression already.";
    DUPLICATE_FRAGMENT "0046" "DuplicateFragment" Failure "Content" "ebMS" Part2
        "A fragment with this number was received before.";
    BAD_FRAGMENT_STRUCTURE "0047" "BadFragmentStructure" Failure "Unpackaging" "ebMS" Part2
        "The fragment message does not consist of exactly the parts that it should.";
    BAD_FRAGMENT_NUM "0048" "BadFragmentNum" Failure "Content" "ebMS" Part2
        "The fragment's number exceeds the count of its group.";
    BAD_FRAGMENT_COUNT "0049" "BadFragmentCount" Failure "Content" "ebMS" Part2
        "The fragment count is lower than the number of a fragment received before.";
    FRAGMENT_SIZE_EXCEEDED "0050" "FragmentSizeExceeded" Warning "Unpackaging" "ebMS" Part2
        "The fragment is larger than agreed.";
    RECEIVE_INTERVAL_EXCEEDED "0051" "ReceiveIntervalExceeded" Failure "Unpackaging" "ebMS" Part2
        "The group was not complete within the agreed time.";
    BAD_PROPERTIES "0052" "BadProperties" Warning "Unpackaging" "ebMS" Part2
        "The fragment's message properties differ from those of its group.";
    HEADER_MISMATCH "0053" "HeaderMismatch" Failure "Unpackaging" "ebMS" Part2
        "The header of the joined message differs from that of its fragments.";
    OUT_OF_STORAGE_SPACE "0054" "OutOfStorageSpace" Failure "Unpackaging" "ebMS" Part2
        "There is no room to keep the fragments.";
    DECOMPRESSION_ERROR "0055" "DecompressionError" Failure "Processing" "ebMS" Part2
        "The joined message could not be decompressed.";
    RESPONSE_USING_ALTERNATE_MEP "0060" "ResponseUsingAlternateMEP" Warning "Processing" "ebMS" Part2
        "The reply will be sent over the alternate exchange pattern.";
    DUPLICATE_DETECTED "4001" "DuplicateDetected" Failure "Content" "ebMS" Field
        "The message was received before (sent by some gateways; no part of a standard).";
}
