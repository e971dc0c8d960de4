// The OTLP receiver of OpenTelemetry's collector, by its own code, with its part of the collector's configuration:
// prints each batch as a line of JSON, the way it read it, and ends with its standard input.
//
//	collector CONFIG
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	given, err := confmap.NewRetrievedFromYAML(text)
	if err != nil {
		return err
	}
	all, err := given.AsConf()
	if err != nil {
		return err
	}
	part, err := all.Sub("receivers::otlp")
	if err != nil {
		return err
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	if err := part.Unmarshal(config); err != nil {
		return err
	}
	lines, err := consumer.NewTraces(print)
	if err != nil {
		return err
	}
	settings := receiver.Settings{
		ID:                component.NewID(factory.Type()),
		TelemetrySettings: componenttest.NewNopTelemetrySettings(),
	}
	one, err := factory.CreateTraces(ctx, settings, config, lines)
	if err != nil {
		return err
	}
	if err := one.Start(ctx, componenttest.NewNopHost()); err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return one.Shutdown(ctx)
}

func print(_ context.Context, traces ptrace.Traces) error {
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	if err != nil {
		return err
	}
	_, err = fmt.Println(string(text))
	return err
}
