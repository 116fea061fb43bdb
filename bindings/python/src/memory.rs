//! `MemoryStore`: counters of this process, of a limiter's own or shared by some.

use labkit_ratelimit::{DEFAULT_MAX_KEYS, MemoryStore, Store};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// One, shared with the limiters that count in it.
#[pyclass(frozen, name = "MemoryStore", module = "labkit_ratelimit")]
pub(crate) struct Memory {
    store: Arc<MemoryStore>,
}

impl Memory {
    /// As a limiter takes it.
    pub(crate) fn store(&self) -> Store {
        Store::Memory(Arc::clone(&self.store))
    }
}

#[pymethods]
impl Memory {
    #[new]
    #[pyo3(signature = (*, max_keys = DEFAULT_MAX_KEYS))]
    fn new(max_keys: usize) -> PyResult<Self> {
        if max_keys == 0 {
            return Err(PyValueError::new_err("max_keys is 1 or more"));
        }
        Ok(Self { store: Arc::new(MemoryStore::with_max_keys(max_keys)) })
    }

    #[getter]
    fn max_keys(&self) -> usize {
        self.store.max_keys()
    }

    fn __len__(&self) -> usize {
        self.store.len()
    }

    fn __repr__(&self) -> String {
        format!("MemoryStore(max_keys={}, len={})", self.store.max_keys(), self.store.len())
    }
}
