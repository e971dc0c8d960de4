package main

import (
	"os"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpproxy"
)

// It reads the proxy variables only with this option.
var client = fasthttp.Client{Dial: fasthttpproxy.FasthttpProxyHTTPDialer(), StreamResponseBody: true}

func open(method, path string, body []byte) (*fasthttp.Response, error) {
	request, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	request.Header.SetMethod(method)
	request.SetRequestURI(url + path)
	request.Header.Set("Authorization", bearer)
	request.SetBody(body)
	return answer, client.Do(request, answer)
}

func read(answer *fasthttp.Response, err error) error {
	if err != nil {
		return err
	}
	return checked(answer.StatusCode(), answer.Body(), nil)
}

func main() {
	run(map[string]func() error{
		"call": func() error { return read(open("GET", "/things", nil)) },
		"stream": func() error {
			answer, err := open("GET", "/events", nil)
			if err != nil {
				return err
			}
			return show(answer.BodyStream())
		},
		"upload": func() error {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return read(open("PUT", "/files/1", content))
		},
	})
}
