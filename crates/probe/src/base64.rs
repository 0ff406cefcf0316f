//! Base64 (RFC 4648, section 4), to carry files in JSON.

/// The bytes that a padded base64 text stands for; `None` if it is not one.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    if text.len() % 4 != 0 {
        return None;
    }
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in digits.as_bytes().chunks(4) {
        let bits = group.iter().try_fold(0, |bits, &digit| Some((bits << 6) | value(digit)?))?;
        let missing = 4 - group.len();
        let all = (bits << (6 * missing)).to_be_bytes();
        bytes.extend_from_slice(&all[1..4 - missing]);
    }
    Some(bytes)
}

/// The six bits of one digit.
fn value(digit: u8) -> Option<u32> {
    let (first, base) = match digit {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => (b'+', 62),
        b'/' => (b'/', 63),
        _ => return None,
    };
    Some(u32::from(digit - first) + base)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn the_examples_of_the_rfc_decode() {
        for (text, bytes) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(decode("/+8A"), Some(vec![0xff, 0xef, 0x00]));
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in ["Zg", "Zg=", "Z===", "Z m9", "====", "Zm9v\n", "Zg==Zg=="] {
            assert_eq!(decode(text), None, "{text:?}");
        }
    }
}
