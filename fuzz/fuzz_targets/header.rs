//! Any bytes as the start of a transport file: the answer is a header or an error, never a panic, and an accepted
//! header survives a second parse.
#![no_main]

use atmostr::met::parse_header_bytes;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    match parse_header_bytes(bytes) {
        Ok(header) => {
            assert!(header.file_bytes() > header.header_bytes());
            assert_eq!(header.steps().len(), header.nwindow());
            assert!(header.sections().iter().all(|s| header.section_offset(*s).is_some()));
            let _ = header.check_runnable();
            let mut again = Value::Object(header.json().clone()).to_string().into_bytes();
            again.push(0);
            // Numbers may be written longer than they were given; such a text may outgrow its own header.
            if again.len() as u64 <= header.header_bytes() {
                assert_eq!(parse_header_bytes(&again).as_ref(), Ok(&header));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
