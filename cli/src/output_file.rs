//! Files that are asked for: never one that is read, and whole or not at all.

use crate::mistake::Mistake;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// A file in the making. Until `keep` nothing stands in its place but what stood there before.
#[derive(Debug)]
pub(crate) struct OutputFile {
    name: String,
    out: BufWriter<Target>,
}

#[derive(Debug)]
enum Target {
    /// A file beside the one that it will replace.
    Beside(NamedTempFile, PathBuf),
    /// A pipe or a device: there is nothing to replace.
    Straight(File),
}

impl OutputFile {
    /// Begins the file that `option` names; never one of those that are `read`, by whatever name (`-` is standard
    /// input), nor the one that the report is written to.
    pub(crate) fn create(option: &str, path: &Path, read: &[&Path]) -> Result<Self, Mistake> {
        let name = path.display().to_string();
        let present = fs::metadata(path);
        if let Ok(present) = &present {
            let of = |path: &&Path| if *path == Path::new("-") { behind(&io::stdin()) } else { fs::metadata(path) };
            if read.iter().any(|path| is_same(present, of(path))) {
                return Err(Mistake::Misuse(format!("{option} would overwrite {name}, which is read")));
            }
            if is_same(present, behind(&io::stdout())) {
                let what = format!("{option} {name} is standard output, where the report goes; name another file");
                return Err(Mistake::Misuse(what));
            }
        }
        let target = Target::new(path, present.ok()).map_err(|error| Mistake::unwritable(&name, &error))?;
        Ok(Self { name, out: BufWriter::new(target) })
    }

    /// Writes to it.
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Mistake> {
        write(&mut self.out).map_err(|error| Mistake::unwritable(&self.name, &error))
    }

    /// Puts it, whole, in its place.
    pub(crate) fn keep(self) -> Result<(), Mistake> {
        let kept = self.out.into_inner().map_err(io::IntoInnerError::into_error).and_then(Target::keep);
        kept.map_err(|error| Mistake::unwritable(&self.name, &error))
    }
}

/// Whether two paths lead to one file, which need not be there yet.
pub(crate) fn is_one_file(a: &Path, b: &Path) -> bool {
    place(a).ok().zip(place(b).ok()).is_some_and(|(a, b)| a == b)
        || fs::metadata(a).is_ok_and(|present| is_same(&present, fs::metadata(b)))
}

/// Where the path leads, links followed.
fn place(path: &Path) -> io::Result<PathBuf> {
    if let Ok(place) = fs::canonicalize(path) {
        return Ok(place);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    Ok(fs::canonicalize(folder)?.join(name))
}

/// What a stream is redirected to.
fn behind(stream: &impl AsFd) -> io::Result<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned()?).metadata()
}

/// Whether both are one file, or one pipe. A terminal or `/dev/null` may be used twice.
fn is_same(target: &Metadata, other: io::Result<Metadata>) -> bool {
    let is_one = |other: Metadata| (target.dev(), target.ino()) == (other.dev(), other.ino());
    !target.file_type().is_char_device() && other.is_ok_and(is_one)
}

impl Target {
    fn new(path: &Path, present: Option<Metadata>) -> io::Result<Self> {
        if let Some(present) = &present {
            // What may not be written is not replaced either.
            let file = OpenOptions::new().write(true).open(path)?;
            if !present.is_file() {
                return Ok(Self::Straight(file));
            }
        }
        let place = place(path)?;
        let folder = place.parent().unwrap_or(Path::new("/"));
        // As a new file has them, less what the umask takes.
        let file = Builder::new()
            .prefix(".labkit-ratelimit-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .map_err(|error| unnamed(&error))?;
        if let Some(present) = present {
            file.as_file().set_permissions(present.permissions())?;
        }
        Ok(Self::Beside(file, place))
    }

    fn keep(self) -> io::Result<()> {
        match self {
            Self::Beside(file, place) => file.persist(place).map(drop).map_err(|error| error.error),
            Self::Straight(_) => Ok(()),
        }
    }
}

/// The error without the path of the file in the making, which nobody asked for.
fn unnamed(error: &io::Error) -> io::Error {
    error.kind().into()
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(file, _) => file.as_file_mut().write(bytes),
            Self::Straight(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(file, _) => file.as_file_mut().flush(),
            Self::Straight(file) => file.flush(),
        }
    }
}
