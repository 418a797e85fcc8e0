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
{{- $own := include "paimon-operator.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/version" (.Chart.AppVersion | toString) -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version) -}}
{{- toYaml (merge $own .Values.commonLabels) -}}
{{- end -}}

{{- /* Labels of the Pod of `helm test`. Not the selector's: it would count as an operator, for Deployment and Service. */ -}}
{{- define "paimon-operator.testLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "paimon-operator.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{- include "paimon-operator.reference" (dict "root" . "path" "image" "image" (printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag))) -}}
{{- end -}}
{{- end -}}

{{- /* One image reference, refused where it names no version. */ -}}
{{- define "paimon-operator.reference" -}}
{{- $name := last (splitList "/" .image) -}}
{{- if not (contains "@sha256:" .image) -}}
{{- if .root.Values.requireDigests -}}
{{- fail (printf "%s: %s is named by a tag, and requireDigests is set. Name it by its digest: repository@sha256:..." .path .image) -}}
{{- end -}}
{{- if or (not (contains ":" $name)) (hasSuffix ":latest" $name) -}}
{{- fail (printf "%s: %s is another image tomorrow. Name a version or, better, a digest." .path .image) -}}
{{- end -}}
{{- end -}}
{{- .image -}}
{{- end -}}

{{- define "paimon-operator.sparkImages" -}}
{{- $images := dict -}}
{{- range $engine, $image := .Values.spark.images -}}
{{- if $image -}}
{{- $path := printf "spark.images.%s" $engine -}}
{{- $_ := set $images $engine (include "paimon-operator.reference" (dict "root" $ "path" $path "image" $image)) -}}
{{- end -}}
{{- end -}}
{{- if not (hasKey $images .Values.spark.defaultEngine) -}}
{{- fail (printf "spark.defaultEngine: %s has no image. Add it to spark.images, or name one of: %s." .Values.spark.defaultEngine (keys $images | sortAlpha | join ", ")) -}}
{{- end -}}
{{- toJson $images -}}
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
{{- (.Files.Get "files/run-types.yaml" | fromYaml).types | join "|" | lower -}}
{{- end -}}
