//! Mending: brings the files of a scope back to the last append that was whole.

use super::aside;
use super::disk::{Disk, beside, sync_parent, unavailable};
use super::erase::Change;
use super::name::Sheet;
use super::scan::{Ending, Scan, Scans};
use crate::error::Error;
use segue_core::segment;
use std::fs;
use std::path::{Path, PathBuf};

/// What is added to the name of a file that cannot be read.
const DAMAGED: &str = aside::DAMAGED;

/// What is added to the name of a file for what a crash left of an append to it.
const TORN: &str = ".torn";

/// Cuts off what a crash left of an append. It was never acknowledged, but it is moved aside all the
/// same: somebody may want to know what it was.
pub(super) fn cut_half_made(disk: &dyn Disk, scans: &Scans) -> Result<Change, Error> {
    let half = scans.half_made();
    let mut change = Change::None;
    // The journal comes first: without its share an append stays half-made, whatever is left of it.
    for scan in scans.all() {
        let begin = half.and_then(|batch| scan.begin_of(batch)).map(|at| scan.lines[at].offset);
        let torn = (scan.ending == Ending::Torn).then_some(scan.end);
        if let Some(at) = begin.or(torn) {
            if is_sealed(scans, scan) {
                return Err(scan.damaged(scan.lines.len() + 1, "the segment is sealed, and its end is torn"));
            }
            set_aside(disk, scan, at)?;
            change = Change::Mended;
        } else if scan.ending == Ending::Unfinished && !is_sealed(scans, scan) {
            disk.append(&scan.path, b"\n").map_err(|error| unavailable(&scan.path, &error))?;
            change = Change::Mended;
        }
    }
    Ok(change)
}

fn is_sealed(scans: &Scans, scan: &Scan) -> bool {
    match scan.sheet {
        Sheet::Journal => false,
        Sheet::Segment(number) => scans.is_sealed(number),
    }
}

/// Moves the files of open segments that cannot be read out of the way, with every byte, so that the session can go
/// on (L-10). A sealed one stays where it is: nobody writes there.
pub(super) fn move_broken(disk: &dyn Disk, folder: &Path, scans: &Scans) -> Result<(), Error> {
    let open: Vec<segment::Number> =
        scans.broken.keys().copied().filter(|number| !scans.is_sealed(*number)).collect();
    for number in open {
        let path = folder.join(Sheet::Segment(number).file_name());
        let aside = (1..).map(|n: u32| beside(&path, &format!("{DAMAGED}{n}")));
        let Some(aside) = aside.into_iter().find(|aside| !aside.exists()) else { continue };
        disk.rename(&path, &aside).map_err(|error| unavailable(&aside, &error))?;
        sync_parent(disk, &aside)?;
    }
    Ok(())
}

/// Lists the files that were moved out of the way.
pub(super) fn moved(folder: &Path) -> Vec<PathBuf> {
    named(folder, |name| name.contains(DAMAGED))
}

/// Lists what crashes left of appends.
pub(super) fn torn(folder: &Path) -> Vec<PathBuf> {
    named(folder, |name| name.ends_with(TORN))
}

fn named(folder: &Path, is_meant: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.filter(|file| file.file_name().to_str().is_some_and(&is_meant));
    let mut found: Vec<PathBuf> = files.map(|file| file.path()).collect();
    found.sort();
    found
}

fn set_aside(disk: &dyn Disk, scan: &Scan, at: u64) -> Result<(), Error> {
    let aside = beside(&scan.path, TORN);
    let mut bytes = scan.bytes[at as usize..].to_vec();
    bytes.push(b'\n');
    disk.append(&aside, &bytes).map_err(|error| unavailable(&aside, &error))?;
    sync_parent(disk, &aside)?;
    disk.truncate(&scan.path, at).map_err(|error| unavailable(&scan.path, &error))?;
    tracing::warn!(
        file = %scan.path.display(), aside = %aside.display(),
        "set aside the rest of an append that was cut off before it was acknowledged"
    );
    Ok(())
}

/// Deletes what no entry needs: files of segments that were never opened, and files that were to take
/// the place of others.
pub(super) fn clear_away(disk: &dyn Disk, folder: &Path, scans: &mut Scans, next: segment::Number) {
    let unopened = |number: &segment::Number, scan: &Scan| *number >= next && scan.bytes.is_empty();
    let staged = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let staged = staged.filter(|path| path.extension().is_some_and(|extension| extension == "tmp"));
    let leftover = scans.segments.iter().filter(|(number, scan)| unopened(number, scan));
    for path in leftover.map(|(_, scan)| scan.path.clone()).chain(staged) {
        if let Err(error) = disk.remove(&path) {
            tracing::warn!(file = %path.display(), %error, "a leftover file could not be deleted");
        }
    }
    scans.segments.retain(|number, scan| !unopened(number, scan));
}
