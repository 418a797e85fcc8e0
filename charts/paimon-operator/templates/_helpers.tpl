{{- define "paimon-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride -}}
{{- end -}}

{{- define "paimon-operator.fullname" -}}
{{- $name := include "paimon-operator.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "paimon-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "paimon-operator.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name must be set when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- /* Where Pods of Spark reach the operator. */ -}}
{{- define "paimon-operator.askedUrl" -}}
{{- $name := printf "%s.%s.svc" (include "paimon-operator.fullname" .) .Release.Namespace -}}
http://{{ .Values.service.clusterIP | default $name }}:8082
{{- end -}}

{{- /* Where observers report. */ -}}
{{- define "paimon-operator.looksUrl" -}}
{{ include "paimon-operator.askedUrl" . }}/v1/looks
{{- end -}}

{{- /* Where drivers of several runs ask for turns. */ -}}
{{- define "paimon-operator.turnsUrl" -}}
{{ include "paimon-operator.askedUrl" . }}/v1/turns
{{- end -}}

{{- /* Whether Pods of the cluster connect to the operator. */ -}}
{{- define "paimon-operator.isAsked" -}}
{{- if or .Values.observer.enabled .Values.batching.enabled }}true{{ end -}}
{{- end -}}

{{- define "paimon-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "paimon-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "paimon-operator.labels" -}}
{{- $own := include "paimon-operator.selectorLabels" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/version" (.Chart.AppVersion | toString) -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version) -}}
{{- toYaml (merge $own .Values.commonLabels) -}}
{{- end -}}

{{- /* Labels of the Pod of `helm test`. With those of the selector, Deployment and Service would select it. */ -}}
{{- define "paimon-operator.testLabels" -}}
app.kubernetes.io/name: {{ include "paimon-operator.name" . }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "paimon-operator.image" -}}
{{- $image := .Values.image -}}
{{- $version := ternary (printf "@%s" $image.digest) (printf ":%s" (default .Chart.AppVersion $image.tag)) (ne $image.digest "") -}}
{{- include "paimon-operator.reference" (dict "root" . "path" "image" "image" (printf "%s%s" $image.repository $version)) -}}
{{- end -}}

{{- /* The image in the registry of `global.imageRegistry`. As for Docker, a first part with a dot or a port is a registry. */ -}}
{{- define "paimon-operator.inRegistry" -}}
{{- $registry := (.root.Values.global).imageRegistry -}}
{{- if $registry -}}
{{- $parts := splitList "/" .image -}}
{{- $named := and (gt (len $parts) 1) (or (regexMatch "[.:]" (first $parts)) (eq (first $parts) "localhost")) -}}
{{- printf "%s/%s" (trimSuffix "/" $registry) (join "/" (ternary (rest $parts) $parts $named)) -}}
{{- else -}}
{{- .image -}}
{{- end -}}
{{- end -}}

{{- /* An image reference. It must name a version. */ -}}
{{- define "paimon-operator.reference" -}}
{{- $name := last (splitList "/" .image) -}}
{{- if not (contains "@sha256:" .image) -}}
{{- if .root.Values.requireDigests -}}
{{- fail (printf "%s: %s has no digest, and requireDigests is set. Use repository@sha256:..." .path .image) -}}
{{- end -}}
{{- if or (not (contains ":" $name)) (hasSuffix ":latest" $name) -}}
{{- fail (printf "%s: %s can change at any time. Use the tag of a version or, better, a digest." .path .image) -}}
{{- end -}}
{{- end -}}
{{- include "paimon-operator.inRegistry" . -}}
{{- end -}}

{{- define "paimon-operator.sparkImages" -}}
{{- $images := dict -}}
{{- range $engine, $image := .Values.spark.images -}}
{{- if $image -}}
{{- $path := printf "spark.images.%s" $engine -}}
{{- $_ := set $images $engine (include "paimon-operator.reference" (dict "root" $ "path" $path "image" $image)) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.spark.defaultEngine (not (hasKey $images .Values.spark.defaultEngine)) -}}
{{- fail (printf "spark.defaultEngine: %s has no image. Add it to spark.images, or name one of: %s." .Values.spark.defaultEngine (keys $images | sortAlpha | join ", ")) -}}
{{- end -}}
{{- toJson $images -}}
{{- end -}}

{{- /* User of the Spark Pods; empty: the platform sets it. A number of values is a float, which is no uid. */ -}}
{{- define "paimon-operator.sparkUid" -}}
{{- with .Values.spark.uid }}{{ int64 . }}{{ end -}}
{{- end -}}

{{- /* Part of a policy: the Pod has no SELinux options. A platform that sets the user sets the level of its namespace. */ -}}
{{- define "paimon-operator.noSelinux" -}}
{{- if include "paimon-operator.sparkUid" . -}}
!has(object.spec.securityContext.seLinuxOptions)
{{- else -}}
{{- range $index, $field := list "type" "user" "role" }}{{ if $index }} && {{ end -}}
object.spec.?securityContext.?seLinuxOptions.?{{ $field }}.orValue('') == ''
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The engine of catalogs that name none: the newest by its version, not by its text. */ -}}
{{- define "paimon-operator.defaultEngine" -}}
{{- if .Values.spark.defaultEngine -}}
{{- .Values.spark.defaultEngine -}}
{{- else -}}
{{- $images := include "paimon-operator.sparkImages" . | fromJson -}}
{{- $newest := "" -}}
{{- range $engine := keys $images | sortAlpha -}}
{{- if or (not $newest) (semverCompare (printf ">%s" (trimPrefix "paimon-" $newest)) (trimPrefix "paimon-" $engine)) -}}
{{- $newest = $engine -}}
{{- end -}}
{{- end -}}
{{- $_ := required "spark.images: there is no image. Name at least one." $newest -}}
{{- $before := include "paimon-operator.defaultEngineBefore" . -}}
{{- if and $before (ne $before $newest) (hasKey $images $before) -}}
{{- fail (printf "this release's default engine is %s, and the newest of spark.images is %s. An upgrade would move all catalogs that name no engine, for good. Set spark.defaultEngine to one of both." $before $newest) -}}
{{- end -}}
{{- $newest -}}
{{- end -}}
{{- end -}}

{{- /* The default engine of the release that is upgraded; empty where there is none. */ -}}
{{- define "paimon-operator.defaultEngineBefore" -}}
{{- if .Release.IsUpgrade -}}
{{- $deployment := lookup "apps/v1" "Deployment" .Release.Namespace (include "paimon-operator.fullname" .) | default dict -}}
{{- range $container := dig "spec" "template" "spec" "containers" list $deployment -}}
{{- range $variable := $container.env }}{{ if eq $variable.name "PAIMON_OPERATOR_DEFAULT_ENGINE" }}{{ $variable.value }}{{ end }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The namespaces that the operator watches, as JSON. Empty: all of them, which must be asked for. */ -}}
{{- define "paimon-operator.watched" -}}
{{- if and .Values.allNamespaces .Values.watchNamespaces -}}
{{- fail (printf "allNamespaces and watchNamespaces exclude each other. Remove watchNamespaces (%s) to watch all namespaces, or set allNamespaces to false to watch only these." (join ", " .Values.watchNamespaces)) -}}
{{- end -}}
{{- if not (or .Values.allNamespaces .Values.watchNamespaces) -}}
{{- $all := printf "%s-%s" .Release.Namespace (include "paimon-operator.fullname" .) -}}
{{- if and .Release.IsUpgrade (lookup "rbac.authorization.k8s.io/v1" "ClusterRoleBinding" "" $all) -}}
{{- fail (printf "this release watches all namespaces, and without allNamespaces or watchNamespaces it would watch only %s. Set allNamespaces to true, or name the namespaces in watchNamespaces." .Release.Namespace) -}}
{{- end -}}
{{- end -}}
{{- if .Values.allNamespaces -}}
[]
{{- else -}}
{{- toJson (default (list .Release.Namespace) .Values.watchNamespaces) -}}
{{- end -}}
{{- end -}}

{{- /* The operator's rights in a namespace that it watches. It has none on Secrets. */ -}}
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
- apiGroups: [paimon-operator.dev]
  resources: [paimonexecutorrights]
  verbs: [get, create]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, create]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [get, create, patch]
# The heartbeat: a Lease that is renewed every 15 s and watched in the same way as the tables.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "paimon-operator.fullname" . }}-canary]
  verbs: [get, list, watch, create, patch]
{{- end -}}

{{- /* The types of runs in lower case, as they occur in the names of the operator's runs. A regular expression. */ -}}
{{- define "paimon-operator.runActions" -}}
{{- (.Files.Get "files/run-types.yaml" | fromYaml).types | join "|" | lower -}}
{{- end -}}
