//! Elements, one after the other; every text and every value of an attribute is escaped.

use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
use std::io::{self, Write};

/// Attributes: name and value.
pub(super) type Attributes<'a> = &'a [(&'a str, &'a str)];

/// Writes elements.
pub(super) struct Markup<'o>(Writer<&'o mut dyn Write>);

impl<'o> Markup<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self(Writer::new(out))
    }

    /// `<!DOCTYPE html>`.
    pub(super) fn doctype(&mut self) -> io::Result<()> {
        self.0.write_event(Event::DocType(BytesText::from_escaped("html")))
    }

    /// An element that others will stand in.
    pub(super) fn open(&mut self, name: &str, attributes: Attributes<'_>) -> io::Result<()> {
        self.0.write_event(Event::Start(start(name, attributes)))
    }

    /// Ends it, and the line.
    pub(super) fn close(&mut self, name: &str) -> io::Result<()> {
        self.0.write_event(Event::End(BytesEnd::new(name)))?;
        self.0.get_mut().write_all(b"\n")
    }

    /// An element without anything in it.
    pub(super) fn empty(&mut self, name: &str, attributes: Attributes<'_>) -> io::Result<()> {
        self.0.write_event(Event::Empty(start(name, attributes)))
    }

    /// An element with a text.
    pub(super) fn text(&mut self, name: &str, attributes: Attributes<'_>, text: &str) -> io::Result<()> {
        self.open(name, attributes)?;
        self.0.write_event(Event::Text(BytesText::new(text)))?;
        self.close(name)
    }
}

fn start<'a>(name: &'a str, attributes: Attributes<'a>) -> BytesStart<'a> {
    BytesStart::new(name).with_attributes(attributes.iter().copied())
}
