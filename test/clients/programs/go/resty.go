package main

import "github.com/go-resty/resty/v2"

func main() {
	api := resty.New().SetBaseURL(url).SetHeader("Authorization", bearer)
	read := func(answer *resty.Response, err error) error {
		return checked(answer.StatusCode(), answer.Body(), err)
	}
	run(map[string]func() error{
		"call": func() error { return read(api.R().Get("/things")) },
		"stream": func() error {
			answer, err := api.R().SetDoNotParseResponse(true).Get("/events")
			if err != nil {
				return err
			}
			return show(answer.RawBody())
		},
		"upload": func() error { return read(api.R().SetFile("file", file).Post("/files")) },
	})
}
