//! With native-tls, which is OpenSSL here.
#[path = "common.rs"]
mod common;

use common::{bearer, checked, file, run, show, url};
use reqwest::blocking::{Client, RequestBuilder};

fn read(request: RequestBuilder) -> common::Done {
    let answer = request.header("authorization", bearer()).send()?;
    checked(answer.status().as_u16(), answer.text()?)
}

fn main() {
    let client = Client::builder().use_native_tls().build().unwrap();
    run(|action| match action {
        "call" => read(client.get(url("/things"))),
        "stream" => show(client.get(url("/events")).header("authorization", bearer()).send()?),
        _ => read(client.put(url("/files/1")).body(file())),
    });
}
