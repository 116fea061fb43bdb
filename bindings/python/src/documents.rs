//! Documents as Python names them: paths, or texts that it has read already.

use labkit_ratelimit::{Builder, Documents, Files, Limiter, LoadError, Source};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// One document.
#[derive(FromPyObject)]
enum Document {
    /// What findings call it, and its text.
    Text(String, Vec<u8>),
    Path(PathBuf),
}

/// Documents, and what a limiter says beside them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Given {
    available: Option<Document>,
    rate_limits: Vec<Document>,
    properties: Vec<String>,
    allowed_skip_rules: Vec<String>,
    strict: bool,
}

enum Origin {
    Files(Files),
    Texts(Documents),
}

impl Given {
    /// # Errors
    /// A `TypeError` for texts beside paths.
    fn origin(&self) -> PyResult<Origin> {
        let mixed = || PyTypeError::new_err("documents are all paths, or all sources");
        let is_path = |document: &Document| matches!(document, Document::Path(_));
        if self.available.iter().chain(&self.rate_limits).all(is_path) {
            let mut files = Files::new();
            if let Some(Document::Path(path)) = &self.available {
                files = files.available_limiters(path);
            }
            for document in &self.rate_limits {
                let Document::Path(path) = document else { return Err(mixed()) };
                files = files.rate_limits(path);
            }
            return Ok(Origin::Files(files));
        }
        let source = |document: &Document| match document {
            Document::Text(name, text) => Ok(Source::new(name.as_str(), text)),
            Document::Path(_) => Err(mixed()),
        };
        let mut documents = Documents::new();
        if let Some(available) = &self.available {
            documents = documents.available_limiters(source(available)?);
        }
        for document in &self.rate_limits {
            documents = documents.rate_limits(source(document)?);
        }
        Ok(Origin::Texts(documents))
    }

    pub(crate) fn apply(self, builder: Builder) -> PyResult<Builder> {
        let builder = match self.origin()? {
            Origin::Files(files) => builder.files(files),
            Origin::Texts(documents) => builder.documents(documents),
        };
        Ok(builder
            .properties(self.properties)
            .allowed_skip_rules(self.allowed_skip_rules)
            .strict_documents(self.strict))
    }

    pub(crate) fn load(self, limiter: &Limiter) -> PyResult<Result<(), LoadError>> {
        Ok(match self.origin()? {
            Origin::Files(files) => limiter.reload_files(&files),
            Origin::Texts(documents) => limiter.reload(&documents),
        })
    }
}
