package main

import (
	"fmt"
	"os"

	"github.com/stripe/stripe-go/v82"
	"github.com/stripe/stripe-go/v82/charge"
	stripefile "github.com/stripe/stripe-go/v82/file"
)

func main() {
	stripe.Key = os.Getenv("STRIPE_SECRET_KEY")
	if base := os.Getenv("STRIPE_URL"); base != "" {
		config := &stripe.BackendConfig{URL: stripe.String(base)}
		stripe.SetBackend(stripe.APIBackend, stripe.GetBackendWithConfig(stripe.APIBackend, config))
		stripe.SetBackend(stripe.UploadsBackend, stripe.GetBackendWithConfig(stripe.UploadsBackend, config))
	}
	run(map[string]func() error{
		"call": func() error {
			made, err := charge.New(&stripe.ChargeParams{Amount: stripe.Int64(1999), Currency: stripe.String("eur")})
			if err != nil {
				return err
			}
			fmt.Println(made.Description)
			return nil
		},
		"upload": func() error {
			content, err := os.Open(file)
			if err != nil {
				return err
			}
			made, err := stripefile.New(&stripe.FileParams{
				FileReader: content, Filename: stripe.String("file.bin"), Purpose: stripe.String("dispute_evidence"),
			})
			if err != nil {
				return err
			}
			fmt.Println(made.ID)
			return nil
		},
	})
}
