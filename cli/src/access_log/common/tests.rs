use super::*;

const ALL: [&str; 8] = ["ip", "user", "method", "path", "status", "bytes", "referrer", "user_agent"];

fn read(line: &str, tail: Tail) -> Result<Vec<String>, Why> {
    let properties: Vec<String> = ALL.iter().map(ToString::to_string).collect();
    let format = Common::new(&properties, tail);
    let entry = format.entry(line.as_bytes()).map_err(|unreadable| unreadable.why)?;
    Ok(entry
        .properties
        .iter()
        .map(|property| if *property == Property::Absent { "-".into() } else { property.to_string() })
        .collect())
}

fn odd(line: &str) -> Option<Oddity> {
    Common::new(&[], Tail::Optional).entry(line.as_bytes()).expect("a request").odd.map(|(what, _)| what)
}

#[test]
fn a_combined_line() {
    let line = r#"2001:db8::1 - alice [17/May/2015:10:05:03 +0000] "GET /a/b?c=d?e HTTP/1.1" 200 512 "http://x/" "curl/8 (a)""#;
    let expected = ["2001:db8::1", "alice", "GET", "/a/b", "200", "512", "http://x/", "curl/8 (a)"];
    assert_eq!(read(line, Tail::Optional).expect("a request"), expected);
    assert_eq!(read(line, Tail::Required).expect("a request"), expected);
    let common = read(line, Tail::Ignored).expect("a request");
    assert_eq!(common[6..], ["-", "-"]);
    assert_eq!(odd(line), None);
}

#[test]
fn a_common_line() {
    let line = r#"host.example - - [17/May/2015:10:05:03 +0000] "HEAD / HTTP/1.0" 304 -"#;
    let expected = ["host.example", "-", "HEAD", "/", "304", "-", "-", "-"];
    assert_eq!(read(line, Tail::Optional).expect("a request"), expected);
    assert_eq!(read(line, Tail::Required), Err(Why::NotCombined));
}

#[test]
fn escapes_are_undone() {
    let line =
        r#"h - - [17/May/2015:10:05:03 +0000] "GET /a\"b\\c\x41\xzz HTTP/1.1" 200 1 "-" "say \"hi\" \xc3\xa9\t" extra"#;
    let fields = read(line, Tail::Required).expect("a request");
    assert_eq!(fields[3], "/a\"b\\cA\\xzz");
    assert_eq!(fields[7], "say \"hi\" é\t");
}

#[test]
fn odd_requests_are_requests() {
    let with = |request: &str| format!(r#"h - - [17/May/2015:10:05:03 +0000] "{request}" 400 0 "-" "-""#);
    for request in [r"\x16\x03\x01", "", "GET", "GET  HTTP/1.1", r"\x16\x03 /a HTTP/1.1", "hello world"] {
        let fields = read(&with(request), Tail::Required).expect("a request");
        assert_eq!(fields[2..4], ["-", "-"], "{request}");
        assert_eq!(odd(&with(request)), Some(Oddity::RequestLine), "{request}");
    }
    for (request, method, path) in [
        ("GET /a", "GET", "/a"),
        ("GET /a b HTTP/1.1", "GET", "/a b"),
        ("OPTIONS * HTTP/1.1", "OPTIONS", "*"),
        ("GET http://x/y?z HTTP/1.1", "GET", "http://x/y"),
        ("-", "-", "-"),
    ] {
        let fields = read(&with(request), Tail::Required).expect("a request");
        assert_eq!(fields[2..4], [method, path], "{request}");
        assert_eq!(odd(&with(request)), None, "{request}");
    }
}

#[test]
fn a_line_that_ends_in_quotes_is_cut_off() {
    let line = r#"h - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 1 "-" "Mozilla/5"#;
    assert_eq!(read(line, Tail::Required).expect("a request")[7], "Mozilla/5");
    assert_eq!(odd(line), Some(Oddity::CutOff));
    assert_eq!(odd(r#"h - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 1 "http"#), Some(Oddity::CutOff));
}

#[test]
fn hosts_and_users() {
    let with = |head: &str| read(&format!(r#"{head} [17/May/2015:10:05:03 +0000] "-" 408 -"#), Tail::Optional);
    let host_and_user = |head: &str| with(head).map(|fields| [fields[0].clone(), fields[1].clone()]);
    assert_eq!(host_and_user("h - John Doe"), Ok(["h".into(), "John Doe".into()]));
    assert_eq!(host_and_user("www.example:443 198.18.0.1 - alice"), Ok(["198.18.0.1".into(), "alice".into()]));
    assert_eq!(host_and_user("198.18.0.1, 198.18.0.2 - -"), Err(Why::NoHost));
    assert_eq!(host_and_user("h -"), Err(Why::NoHost));
    assert_eq!(host_and_user(""), Err(Why::NoHost));
}

#[test]
fn what_is_no_request() {
    for (line, why) in [
        ("", Why::NoHost),
        ("nothing of the kind", Why::NoHost),
        (r#"h - - [17/May/2015:10:05:03 +0000 "GET / HTTP/1.1" 200 1"#, Why::BadTime),
        (r#"h - - [17/Mai/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1"#, Why::BadTime),
        ("h - - [17/May/2015:10:05:03 +0000] GET / HTTP/1.1 200 1", Why::NoRequest),
        (r#"h - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1"#, Why::NoRequest),
        (r#"h - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1""#, Why::BadStatus),
        (r#"h - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" OK 1"#, Why::BadStatus),
        (r#"h - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200"#, Why::BadBytes),
        (r#"h - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1k"#, Why::BadBytes),
    ] {
        assert_eq!(read(line, Tail::Optional), Err(why), "{line}");
    }
}
