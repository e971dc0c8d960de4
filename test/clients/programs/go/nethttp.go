package main

import (
	"io"
	"net/http"
	"os"
)

func open(method, path string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequest(method, url+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", bearer)
	return http.DefaultClient.Do(request)
}

func read(answer *http.Response, err error) error {
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	return checked(answer.StatusCode, body, err)
}

func main() {
	run(map[string]func() error{
		"call": func() error { return read(open("GET", "/things", nil)) },
		"stream": func() error {
			answer, err := open("GET", "/events", nil)
			if err != nil {
				return err
			}
			return show(answer.Body)
		},
		"upload": func() error {
			content, err := os.Open(file)
			if err != nil {
				return err
			}
			return read(open("PUT", "/files/1", content))
		},
	})
}
