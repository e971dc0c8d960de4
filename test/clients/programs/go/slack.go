package main

import (
	"fmt"
	"os"

	"github.com/slack-go/slack"
)

func main() {
	var options []slack.Option
	if base := os.Getenv("SLACK_API_URL"); base != "" {
		options = append(options, slack.OptionAPIURL(base+"/"))
	}
	client := slack.New(os.Getenv("SLACK_BOT_TOKEN"), options...)
	run(map[string]func() error{
		"call": func() error {
			_, _, text, err := client.SendMessage("C1", slack.MsgOptionText("Hello", false))
			if err != nil {
				return err
			}
			fmt.Println(text)
			return nil
		},
	})
}
