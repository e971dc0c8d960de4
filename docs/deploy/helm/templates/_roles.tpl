{{/* The two roles with what differs between them. */}}
{{- define "cloakroom.roles" -}}
control-plane: { values: controlPlane, port: 8000, host: vault, ready: /api/status/health/ }
resolver: { values: resolver, port: 8080, host: resolver, ready: /healthz }
{{- end }}

{{- define "cloakroom.selector" -}}
app.kubernetes.io/name: cloakroom
app.kubernetes.io/instance: {{ .release }}
app.kubernetes.io/component: {{ .role }}
{{- end }}
