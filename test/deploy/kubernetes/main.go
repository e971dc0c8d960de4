// Checks the product's files with the code of Kubernetes, Helm, External Secrets and the Prometheus Operator:
//
//	kubernetes render CHART VALUES [SET…]
//	                                 the chart as Helm renders it, with values of a file, and those of each --set
//	kubernetes check                 manifests of standard input, as types of Kubernetes without any other field; of an
//	                                 ExternalSecret among them, the values that its webhook provider fetches, by name
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"github.com/external-secrets/external-secrets/pkg/provider/webhook"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/strvals"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) >= 4 && os.Args[1] == "render" {
		return render(os.Args[2], os.Args[3], os.Args[4:])
	}
	return check()
}

func render(place string, file string, sets []string) error {
	chart, err := loader.Load(place)
	if err != nil {
		return err
	}
	values, err := chartutil.ReadValuesFile(file)
	if err != nil {
		return err
	}
	for _, set := range sets {
		if err := strvals.ParseInto(set, values); err != nil {
			return err
		}
	}
	release := chartutil.ReleaseOptions{Name: "cloakroom", Namespace: "default", IsInstall: true}
	given, err := chartutil.ToRenderValues(chart, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return err
	}
	rendered, err := engine.Engine{Strict: true}.Render(chart, given)
	if err != nil {
		return err
	}
	for name, text := range rendered {
		if strings.HasSuffix(name, ".yaml") {
			fmt.Println("---\n" + text)
		}
	}
	return nil
}

func check() error {
	known := scheme.Scheme
	if err := esv1.AddToScheme(known); err != nil {
		return err
	}
	if err := monitoringv1.AddToScheme(known); err != nil {
		return err
	}
	text, err := os.ReadFile("/dev/stdin")
	if err != nil {
		return err
	}
	decoder := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()
	var store *esv1.SecretStore
	var wanted *esv1.ExternalSecret
	kube := fake.NewClientBuilder().WithScheme(known)
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		if !bytes.Contains(document, []byte("kind:")) {
			continue
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return err
		}
		switch it := object.(type) {
		case *esv1.SecretStore:
			store = it
		case *esv1.ExternalSecret:
			wanted = it
		case *corev1.Secret:
			kube = kube.WithObjects(stored(it))
		}
	}
	if wanted == nil {
		return nil
	}
	return fetch(kube.Build(), store, wanted)
}

// In the form that the API server stores.
func stored(secret *corev1.Secret) client.Object {
	secret.Namespace = "default"
	secret.Data = map[string][]byte{}
	for name, value := range secret.StringData {
		secret.Data[name] = []byte(value)
	}
	return secret
}

func fetch(kube client.Client, store *esv1.SecretStore, wanted *esv1.ExternalSecret) error {
	ctx := context.Background()
	store.Namespace = "default"
	session, err := (&webhook.Provider{}).NewClient(ctx, store, kube, "default")
	if err != nil {
		return err
	}
	values := map[string]string{}
	for _, source := range wanted.Spec.DataFrom {
		found, err := session.GetSecretMap(ctx, *source.Extract)
		if err != nil {
			return err
		}
		for name, value := range found {
			values[name] = string(value)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(values)
}
