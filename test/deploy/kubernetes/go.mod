module cloakroom.test/kubernetes

go 1.25

require (
	github.com/external-secrets/external-secrets v0.20.4
	github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring v0.85.0
	helm.sh/helm/v3 v3.19.0
)
