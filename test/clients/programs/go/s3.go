package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

func main() {
	ctx := context.Background()
	settings, err := config.LoadDefaultConfig(ctx, config.WithRegion("eu-central-1"), config.WithRetryMaxAttempts(1))
	if err != nil {
		panic(err)
	}
	client := s3.NewFromConfig(settings, func(options *s3.Options) { options.UsePathStyle = true })
	open := func() (io.Reader, error) {
		answer, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String("things"), Key: aws.String("a file")})
		if err != nil {
			return nil, err
		}
		return answer.Body, nil
	}
	read := func() error {
		body, err := open()
		if err != nil {
			return err
		}
		return show(body)
	}
	run(map[string]func() error{
		"call":   read,
		"stream": read,
		"upload": func() error {
			content, err := os.Open(file)
			if err != nil {
				return err
			}
			made, err := client.PutObject(ctx, &s3.PutObjectInput{
				Bucket: aws.String("things"), Key: aws.String("a file"), Body: content,
			})
			if err != nil {
				return err
			}
			fmt.Println(*made.ETag)
			return nil
		},
	})
}
