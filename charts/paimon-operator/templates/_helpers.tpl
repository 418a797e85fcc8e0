{{- define "paimon-operator.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "paimon-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "paimon-operator.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name must be set when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "paimon-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "paimon-operator.labels" -}}
{{ include "paimon-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "paimon-operator.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- /* What the operator may do in a namespace that it watches. No Secrets, on purpose. */ -}}
{{- define "paimon-operator.rules" -}}
- apiGroups: [paimon-operator.dev]
  resources: [paimoncatalogs, paimontables, paimonruns]
  verbs: [get, list, watch, patch]
- apiGroups: [paimon-operator.dev]
  resources: [paimonruns]
  verbs: [create, delete]
- apiGroups: [paimon-operator.dev]
  resources: [paimoncatalogs/status, paimontables/status, paimonruns/status]
  verbs: [patch]
# Owner references that block deletion need this where OwnerReferencesPermissionEnforcement is on.
- apiGroups: [paimon-operator.dev]
  resources: [paimontables/finalizers, paimonruns/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, create, delete, patch]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, create]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [get, create, patch]
# The health canary: a Lease renewed every 15 s and seen again through the same kind of watch as the tables.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "paimon-operator.fullname" . }}-canary]
  verbs: [get, list, watch, create, patch]
{{- end -}}

{{- /* The middle of the names that the operator gives to runs: its run types in lower case. */ -}}
{{- define "paimon-operator.runActions" -}}
provision|write|compact|expiresnapshots|drop
{{- end -}}
