//! Ruby objects around values of Rust.

use magnus::rb_sys::{AsRawValue as _, FromRawValue as _, protect};
use magnus::{Error, Ruby, TypedData, Value};

/// An object around `data`.
///
/// # Errors
/// Ruby has no memory for it. `data` is leaked then.
pub(crate) fn object<T: TypedData>(ruby: &Ruby, data: T) -> Result<Value, Error> {
    // Where Ruby raises, `data` is in a raw box already, and no frame that is jumped over owns anything.
    let object = protect(|| ruby.obj_wrap(data).as_raw())?;
    // SAFETY: it came from Ruby just now.
    Ok(unsafe { Value::from_raw(object) })
}
