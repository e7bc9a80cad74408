#!/usr/bin/env bash
# Runs this checkout on a kind cluster: creates the cluster, builds the images, installs or upgrades
# the chart, and waits until it is ready. Can be repeated.
#
#   KIND_CLUSTER      name of the cluster; atajo by default
#   KIND_NODE_IMAGE   image of the node; kind's default by default
#   MONGODB_IMAGE     image of MongoDB; a local mongo:8.0 by default, else the chart's
#   PYTHON_IMAGE, NODE_IMAGE, NGINX_IMAGE   base images, as in deploy/images
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cluster=${KIND_CLUSTER:-atajo}
mongodb=${MONGODB_IMAGE:-mongo:8.0}
context=kind-$cluster

say() { printf '%s\n' "$*" >&2; }

start_cluster() {
  if kind get clusters 2>/dev/null | grep -qx "$cluster"; then
    # After a restart of the machine the node exists, but is stopped.
    kind get nodes --name "$cluster" | xargs docker start >/dev/null
    kind export kubeconfig --name "$cluster" 2>/dev/null
  else
    say "Creating the cluster $cluster."
    kind create cluster --name "$cluster" --config deploy/kind/cluster.yaml \
      ${KIND_NODE_IMAGE:+--image "$KIND_NODE_IMAGE"}
  fi
  for _ in $(seq 180); do
    kubectl --context "$context" get --raw /readyz >/dev/null 2>&1 && break
    sleep 1
  done
  kubectl --context "$context" wait --for=condition=Ready nodes --all --timeout=180s >/dev/null
}

# Tag by content, so that an unchanged image causes no rollout.
build_images() {
  say "Building the images."
  make images TAG=build >&2
  tag=$(docker image inspect --format '{{.Id}}' atajo/app:build atajo/web:build | sha256sum | cut -c 1-12)
  docker tag atajo/app:build "atajo/app:$tag"
  docker tag atajo/web:build "atajo/web:$tag"
}

load_images() {
  local images=("atajo/app:$tag" "atajo/web:$tag")
  # If it is not on this machine, the node pulls it by the digest in the chart.
  if docker image inspect "$mongodb" >/dev/null 2>&1; then
    images+=("$mongodb")
  else
    mongodb=${MONGODB_IMAGE:-}
  fi
  say "Loading ${images[*]}."
  kind load docker-image --name "$cluster" "${images[@]}" >&2
}

install_chart() {
  say "Installing the chart."
  kubectl --context "$context" apply -f deploy/kind/namespace.yaml >/dev/null
  helm upgrade --install atajo charts/atajo --kube-context "$context" --namespace atajo \
    --values deploy/kind/values.yaml --set "image.tag=$tag${mongodb:+,mongodb.image=$mongodb}" \
    --wait --timeout 10m >/dev/null
}

start_cluster
build_images
load_images
install_chart
say "Atajo $tag runs: http://localhost:8080"
