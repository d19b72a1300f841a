# Reads mails with the library of Python: a JSON list of texts, one character for each byte, from stdin. Prints what they have as JSON.
import json
import sys
from email import policy
from email.parser import BytesParser
from html.parser import HTMLParser


class Page(HTMLParser):
    """The elements, the links and the text of HTML."""

    def __init__(self):
        super().__init__()
        self.elements, self.links, self.text, self.link = [], [], "", None

    def handle_starttag(self, tag, attrs):
        self.elements.append([tag, dict(attrs)])
        if tag == "a":
            self.link = len(self.links)
            self.links.append({"href": dict(attrs).get("href"), "text": ""})
        elif tag in ("br", "p", "h1", "hr"):
            self.text += "\n"

    def handle_endtag(self, tag):
        if tag == "a":
            self.link = None

    def handle_data(self, data):
        if self.lasttag in ("title", "style"):
            return
        self.text += data
        if self.link is not None:
            self.links[self.link]["text"] += data


def unflowed(part):
    """The lines of a plain text, whose long lines may be broken (RFC 3676)."""
    params = part["content-type"].params
    lines = part.get_content().replace("\r\n", "\n").split("\n")
    if params.get("format") != "flowed":
        return lines
    found, begun = [], ""
    for line in lines:
        line = line[1:] if line.startswith(" ") else line
        if line.endswith(" ") and line != "-- ":
            begun += line[:-1] if params.get("delsp") == "yes" else line
        else:
            found.append(begun + line)
            begun = ""
    return found


def read(source):
    mail = BytesParser(policy=policy.default).parsebytes(source.encode("latin-1"))
    defects = [str(defect) for part in mail.walk() for defect in part.defects]
    headers = []
    for name, value in mail.items():
        defects += [f"{name}: {defect}" for defect in value.defects]
        # A long value begins on the next line.
        headers.append([name, str(value).strip()])
    parts = [part for part in mail.walk() if not part.is_multipart()]
    page = Page()
    for part in parts:
        if part.get_content_type() == "text/html":
            page.feed(part.get_content())
            page.close()
    return {
        "type": mail.get_content_type(),
        "defects": defects,
        "headers": headers,
        "parts": [[part.get_content_type(), part.get_content_charset(), part.get_content()] for part in parts],
        "lines": unflowed(parts[0]),
        "elements": page.elements,
        "links": page.links,
        "shown": [line.strip() for line in page.text.split("\n") if line.strip() != ""],
    }


print(json.dumps([read(source) for source in json.load(sys.stdin)]))
