module cloakroom.test/kubernetes

go 1.25

require (
	github.com/external-secrets/external-secrets v0.20.4
	helm.sh/helm/v3 v3.19.0
)
