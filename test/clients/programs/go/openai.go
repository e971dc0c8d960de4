package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
)

// explained is an error with the API's message, which it does not print by itself.
func explained(err error) error {
	var failure *openai.Error
	if errors.As(err, &failure) {
		return fmt.Errorf("%d: %s", failure.StatusCode, failure.Message)
	}
	return err
}

func main() {
	client := openai.NewClient()
	ctx := context.Background()
	question := openai.ChatCompletionNewParams{
		Model:    "gpt-5",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")},
	}
	run(map[string]func() error{
		"call": func() error {
			answer, err := client.Chat.Completions.New(ctx, question)
			if err != nil {
				return explained(err)
			}
			fmt.Println(answer.Choices[0].Message.Content)
			return nil
		},
		"stream": func() error {
			stream := client.Chat.Completions.NewStreaming(ctx, question)
			for stream.Next() {
				fmt.Println(stream.Current().Choices[0].Delta.Content)
			}
			return stream.Err()
		},
		"upload": func() error {
			content, err := os.Open(file)
			if err != nil {
				return err
			}
			made, err := client.Files.New(ctx, openai.FileNewParams{File: content, Purpose: "user_data"})
			if err != nil {
				return err
			}
			fmt.Println(made.ID)
			return nil
		},
	})
}
