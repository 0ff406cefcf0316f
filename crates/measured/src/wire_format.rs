//! The wire format of messages, between two programs of one build: little-endian numbers, lengths
//! before contents.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// A value that can be sent.
pub trait Wire: Sized {
    /// Appends the value.
    fn put(&self, out: &mut Vec<u8>);
    /// Takes a value off the front; `None` if the bytes are none.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

/// Implements [`Wire`] for a structure: its fields in order.
macro_rules! fields {
    ($name:ident { $($field:ident),+ }) => {
        impl $crate::wire_format::Wire for $name {
            fn put(&self, out: &mut alloc::vec::Vec<u8>) {
                $(self.$field.put(out);)+
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                $(let $field = $crate::wire_format::Wire::take(from)?;)+
                Some(Self { $($field),+ })
            }
        }
    };
}
pub(crate) use fields;

macro_rules! number {
    ($($name:ty),+) => {$(
        impl Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        }
    )+};
}
number!(u8, u32, i32, u64);

/// Appends a number of items.
fn put_count(count: usize, out: &mut Vec<u8>) {
    (count as u64).put(out);
}

/// Takes a number of items. Each has at least one byte, so there can't be more items than bytes.
fn take_count(from: &mut &[u8]) -> Option<usize> {
    usize::try_from(u64::take(from)?).ok().filter(|&count| count <= from.len())
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let count = take_count(from)?;
        let (bytes, rest) = from.split_at(count);
        *from = rest;
        Self::from_utf8(bytes.to_vec()).ok()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(self.is_some()).put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(None),
            1 => T::take(from).map(Some),
            _ => None,
        }
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        for value in self {
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        (0..take_count(from)?).map(|_| T::take(from)).collect()
    }
}

impl<K: Wire + Ord, V: Wire> Wire for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        put_count(self.len(), out);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        (0..take_count(from)?).map(|_| Some((K::take(from)?, V::take(from)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Wire;

    #[test]
    fn what_is_cut_off_or_too_long_is_no_value() {
        let mut bytes = Vec::new();
        vec![Some("a".to_owned()), None].put(&mut bytes);
        assert_eq!(Wire::take(&mut &bytes[..]), Some(vec![Some("a".to_owned()), None]));
        for end in 0..bytes.len() {
            assert_eq!(Vec::<Option<String>>::take(&mut &bytes[..end]), None);
        }
        assert_eq!(Vec::<u8>::take(&mut &[0xff; 8][..]), None);
    }
}
