package main

import (
	"context"
	"fmt"
	neturl "net/url"
	"os"

	"github.com/google/go-github/v74/github"
)

func main() {
	client := github.NewClient(nil).WithAuthToken(os.Getenv("GITHUB_TOKEN"))
	if base := os.Getenv("GITHUB_API_URL"); base != "" {
		client.BaseURL, _ = neturl.Parse(base + "/")
	}
	ctx := context.Background()
	run(map[string]func() error{
		"call": func() error {
			repository, _, err := client.Repositories.Get(ctx, "acme", "things")
			if err != nil {
				return err
			}
			fmt.Println(repository.GetDescription())
			return nil
		},
		"upload": func() error {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			options := &github.RepositoryContentFileOptions{Message: github.Ptr("A file"), Content: content}
			made, _, err := client.Repositories.CreateFile(ctx, "acme", "things", "file.bin", options)
			if err != nil {
				return err
			}
			fmt.Println(made.Content.GetSHA())
			return nil
		},
	})
}
