package main

import (
	"context"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"
)

func main() {
	client := anthropic.NewClient()
	ctx := context.Background()
	question := anthropic.MessageNewParams{
		Model:     "claude-sonnet-5-5",
		MaxTokens: 64,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hello"))},
	}
	run(map[string]func() error{
		"call": func() error {
			answer, err := client.Messages.New(ctx, question)
			if err != nil {
				return err
			}
			fmt.Println(answer.Content[0].Text)
			return nil
		},
		"stream": func() error {
			stream := client.Messages.NewStreaming(ctx, question)
			for stream.Next() {
				if event := stream.Current(); event.Type == "content_block_delta" {
					fmt.Println(event.Delta.Text)
				}
			}
			return stream.Err()
		},
	})
}
