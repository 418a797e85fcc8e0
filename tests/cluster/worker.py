"""kubelet and kube-proxy of the node, and the kubeconfigs of everything that runs inside the namespace."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.cluster.kubeconfig import write_kubeconfig
from tests.cluster.layout import API_PORT, NODE_ADDRESS, POD_RANGE, Layout
from tests.cluster.pki import Authority
from tests.cluster.programs import KUBE_CONTROLLER_MANAGER, KUBE_PROXY, KUBE_SCHEDULER, KUBELET

_SERVER = f"https://{NODE_ADDRESS}:{API_PORT}"


def kubelet_command(layout: Layout, authority: Authority) -> list[str]:
    """Writes kubelet's configuration and returns its command."""
    configuration = layout.state / "kubelet.yaml"
    configuration.write_text(yaml.safe_dump(_kubelet_configuration(layout, authority)))
    node = f"system:node:{layout.name}"
    return [
        str(KUBELET.path),
        f"--kubeconfig={_kubeconfig(layout, authority, 'kubelet', node, ('system:nodes',))}",
        f"--config={configuration}",
        f"--hostname-override={layout.name}",
        f"--node-ip={NODE_ADDRESS}",
        f"--root-dir={layout.kubelet}",
        f"--cert-dir={layout.kubelet / 'pki'}",
    ]


def _kubelet_configuration(layout: Layout, authority: Authority) -> dict[str, object]:
    serving = authority.issue("kubelet-serving", user=layout.name, hosts=(f"DNS:{layout.name}", f"IP:{NODE_ADDRESS}"))
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(authority.certificate)},
        },
        "authorization": {"mode": "Webhook"},
        "address": NODE_ADDRESS,
        "tlsCertFile": str(serving.certificate),
        "tlsPrivateKeyFile": str(serving.key),
        "containerRuntimeEndpoint": f"unix://{layout.containerd_socket}",
        # Not the default root: two kubelets under one root delete each other's pods.
        "cgroupRoot": f"/{layout.name}",
        "cgroupDriver": "cgroupfs",
        "enforceNodeAllocatable": [],
        "failSwapOn": False,
        "failCgroupV1": False,
        "oomScoreAdj": 0,  # a negative score needs CAP_SYS_RESOURCE
        "podLogsDir": str(layout.state / "log" / "pods"),
        "volumePluginDir": str(layout.kubelet / "volume-plugins"),
        "resolvConf": str(_write_resolver(layout)),
        "clusterDomain": "cluster.local",
        "clusterDNS": [NODE_ADDRESS],  # nothing listens there; without it every pod gets a warning event
        # The disk is the developer's: warn about it nowhere, evict only when it is nearly full.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"nodefs.available": "1%", "imagefs.available": "1%"},
        "syncFrequency": "10s",
    }


def _write_resolver(layout: Layout) -> Path:
    """Writes a resolv.conf without a name server: a look-up is refused at once instead of waiting for the host's."""
    file = layout.state / "resolv.conf"
    file.write_text(f"nameserver {NODE_ADDRESS}\noptions timeout:1 attempts:1\n")
    return file


def proxy_command(layout: Layout, authority: Authority) -> list[str]:
    return [
        str(KUBE_PROXY.path),
        f"--kubeconfig={_kubeconfig(layout, authority, 'kube-proxy', 'system:kube-proxy')}",
        f"--hostname-override={layout.name}",
        f"--cluster-cidr={POD_RANGE}",
        "--proxy-mode=iptables",
        "--conntrack-max-per-core=0",  # the limit applies to the whole machine
    ]


def controller_manager_command(layout: Layout, authority: Authority) -> list[str]:
    user = "system:kube-controller-manager"
    return [
        str(KUBE_CONTROLLER_MANAGER.path),
        f"--kubeconfig={_kubeconfig(layout, authority, 'kube-controller-manager', user)}",
        f"--service-account-private-key-file={authority.service_account_key()}",
        f"--root-ca-file={authority.certificate}",
        "--use-service-account-credentials",
        "--leader-elect=false",
        "--controllers=*,-node-ipam-controller",  # addresses are host-local's
    ]


def scheduler_command(layout: Layout, authority: Authority) -> list[str]:
    user = "system:kube-scheduler"
    return [
        str(KUBE_SCHEDULER.path),
        f"--kubeconfig={_kubeconfig(layout, authority, 'kube-scheduler', user)}",
        "--leader-elect=false",
    ]


def _kubeconfig(layout: Layout, authority: Authority, name: str, user: str, groups: tuple[str, ...] = ()) -> Path:
    identity = authority.issue(name, user=user, groups=groups)
    path = layout.state / "pki" / f"{name}.kubeconfig"
    return write_kubeconfig(path, server=_SERVER, authority=authority.certificate, user=identity)
