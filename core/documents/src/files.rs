//! Documents as files that may be read again.

use crate::documents::Documents;
use crate::source::Source;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The paths of a service's documents.
///
/// ```no_run
/// use labkit_ratelimit_documents::Files;
/// let files = Files::new().available_limiters("config/available_limiters.yaml").rate_limits("/etc/app/rate_limits.yaml");
/// let documents = files.open()?;
/// # Ok::<(), labkit_ratelimit_documents::UnreadableFile>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    available: Option<PathBuf>,
    rate_limits: Vec<PathBuf>,
}

impl Files {
    /// No file yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The contract that ships with the application.
    #[must_use]
    pub fn available_limiters(mut self, path: impl Into<PathBuf>) -> Self {
        self.available = Some(path.into());
        self
    }

    /// A file of operators, behind those before it.
    #[must_use]
    pub fn rate_limits(mut self, path: impl Into<PathBuf>) -> Self {
        self.rate_limits.push(path.into());
        self
    }

    /// Whether there is an `available_limiters` file.
    pub const fn has_available_limiters(&self) -> bool {
        self.available.is_some()
    }

    /// The contract alone.
    #[must_use]
    pub fn without_rate_limits(&self) -> Self {
        Self { available: self.available.clone(), rate_limits: Vec::new() }
    }

    /// Reads the files as they are now. What is in them is judged later.
    ///
    /// # Errors
    /// The first file that cannot be read; one that does not exist is one of those.
    pub fn open(&self) -> Result<Documents, UnreadableFile> {
        let mut documents = Documents::new();
        if let Some(path) = &self.available {
            documents = documents.available_limiters(open(path)?);
        }
        for path in &self.rate_limits {
            documents = documents.rate_limits(open(path)?);
        }
        Ok(documents)
    }
}

fn open(path: &Path) -> Result<Source, UnreadableFile> {
    Source::read_file(path).map_err(|error| UnreadableFile { file: path.to_owned(), error })
}

/// A file that cannot be read.
#[derive(Debug)]
pub struct UnreadableFile {
    file: PathBuf,
    error: io::Error,
}

impl UnreadableFile {
    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }
}

impl fmt::Display for UnreadableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.file.display(), self.error)
    }
}

impl Error for UnreadableFile {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
