package main

import (
	"fmt"
	"io"
	"os"
)

var (
	url    = os.Getenv("API_URL")
	bearer = "Bearer " + os.Getenv("API_KEY")
	file   = os.Getenv("FILE")
)

// run performs the action of the first argument, and prints an error in its library's words.
func run(actions map[string]func() error) {
	if err := actions[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// checked is for libraries that treat an error status as an ordinary answer.
func checked(status int, body []byte, err error) error {
	if err == nil && status >= 400 {
		return fmt.Errorf("%d: %s", status, body)
	}
	fmt.Println(string(body))
	return err
}

// show prints each piece as it arrives.
func show(stream io.Reader) error {
	_, err := io.Copy(os.Stdout, stream)
	return err
}
