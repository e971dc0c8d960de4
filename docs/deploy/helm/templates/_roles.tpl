{{/* The two roles with what differs between them. */}}
{{- define "cloakroom.roles" -}}
control-plane: { values: controlPlane, port: 8000, host: vault, ready: /api/status/health/ }
resolver: { values: resolver, port: 8080, host: resolver, ready: /healthz }
{{- end }}

{{- define "cloakroom.selector" -}}
app.kubernetes.io/name: cloakroom
app.kubernetes.io/instance: {{ .release | quote }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* The settings of a role's process; its secrets are in files. */}}
{{- define "cloakroom.env" -}}
{{- $values := get .root.Values .of.values -}}
- { name: SERVICE_SETTINGS, value: production }
- { name: ROLE, value: {{ .role }} }
{{- if .root.Values.metrics.enabled }}
# Prometheus asks by the pod's address.
- { name: POD_IP, valueFrom: { fieldRef: { fieldPath: status.podIP } } }
- { name: ALLOWED_HOSTS, value: {{ printf "%s,$(POD_IP)" (get .root.Values.hosts .of.host) | quote }} }
- { name: ADMIN_PORT, value: {{ .root.Values.metrics.port | quote }} }
{{- else }}
- { name: ALLOWED_HOSTS, value: {{ get .root.Values.hosts .of.host | quote }} }
{{- end }}
- { name: SERVICE_SERVER_URL, value: {{ printf "https://%s" .root.Values.hosts.vault | quote }} }
- { name: SERVICE_RESOLVER_URL, value: {{ printf "https://%s" .root.Values.hosts.resolver | quote }} }
- { name: TRUSTED_PROXIES, value: {{ join "," .root.Values.trustedProxies | quote }} }
- { name: DB_HOST, value: {{ .root.Values.database.host | quote }} }
- { name: DB_PORT, value: {{ .root.Values.database.port | quote }} }
- { name: DB_NAME, value: {{ .root.Values.database.name | quote }} }
- { name: DB_SSLMODE, value: {{ .root.Values.database.sslmode | quote }} }
- { name: DB_USER, value: {{ $values.databaseUser | quote }} }
- { name: DB_PASSWORD_FILE, value: /run/secrets/database/DB_PASSWORD }
- { name: SECRET_KEY_FILE, value: /run/secrets/keys/SECRET_KEY }
- { name: ENCRYPTION_KEY_FILE, value: /run/secrets/keys/ENCRYPTION_KEY }
- { name: CRON_SECRET_FILE, value: /run/secrets/keys/CRON_SECRET }
- { name: SIGNED_STATE_FILE, value: /var/lib/cloakroom/signed_state.sqlite }
{{- with get $values "allowNetworks" }}
- { name: RESOLVER_ALLOW_NETWORKS, value: {{ join "," . | quote }} }
{{- end }}
{{- range $name, $value := .root.Values.settings }}
- { name: {{ $name | quote }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{/* Of every pod. */}}
{{- define "cloakroom.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
# Files of Secrets are readable by this group, and by nobody else.
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "cloakroom.containerSecurity" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end }}

{{- define "cloakroom.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
{{- end }}

{{- define "cloakroom.mounts" -}}
- { name: keys, mountPath: /run/secrets/keys, readOnly: true }
- { name: database, mountPath: /run/secrets/database, readOnly: true }
- { name: state, mountPath: /var/lib/cloakroom }
{{- if .Values.filesSecret }}
- { name: files, mountPath: /run/secrets/files, readOnly: true }
{{- end }}
{{- end }}

{{- define "cloakroom.volumes" -}}
- name: keys
  secret: { secretName: {{ .root.Values.keysSecret | quote }}, defaultMode: 288 }
- name: database
  secret: { secretName: {{ (get .root.Values .of.values).passwordSecret | quote }}, defaultMode: 288 }
- name: state
  emptyDir: { sizeLimit: 1Gi }
{{- with .root.Values.filesSecret }}
- name: files
  secret: { secretName: {{ . | quote }}, defaultMode: 288 }
{{- end }}
{{- end }}

{{/* What every pod reaches: names, and the database. */}}
{{- define "cloakroom.egress" -}}
- to: {{- toYaml .Values.networkPolicy.dns | nindent 4 }}
  ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }]
- to: {{- toYaml .Values.networkPolicy.database | nindent 4 }}
  ports: [{ protocol: TCP, port: {{ .Values.database.port }} }]
{{- end }}
