//! A Redis Cluster of masters.

use super::eventually;
use super::server::{FREE_PORT, RedisServer};
use std::thread::sleep;
use std::time::Duration;

const SLOTS: usize = 16_384;

/// Masters that share all slots, and nodes without any behind them.
pub struct RedisCluster {
    pub nodes: Vec<RedisServer>,
}

impl RedisCluster {
    pub fn start(masters: usize, empty: usize) -> Self {
        let node = |_| {
            RedisServer::with(&[
                "--cluster-enabled",
                "yes",
                "--cluster-port",
                FREE_PORT,
                "--cluster-node-timeout",
                "2000",
            ])
        };
        let nodes: Vec<RedisServer> = (0..masters + empty).map(node).collect();
        for (nth, node) in nodes.iter().enumerate().take(masters) {
            let (first, next) = (SLOTS * nth / masters, SLOTS * (nth + 1) / masters);
            node.run::<()>(&format!("CLUSTER ADDSLOTSRANGE {first} {}", next - 1));
        }
        for node in &nodes[1..] {
            let bus = node.run::<Vec<String>>("CONFIG GET cluster-port")[1].clone();
            nodes[0].run::<()>(&format!("CLUSTER MEET 127.0.0.1 {} {bus}", node.port));
        }
        let cluster = Self { nodes };
        eventually("the cluster is formed", || cluster.agrees(masters + empty));
        cluster
    }

    fn agrees(&self, size: usize) -> bool {
        let formed = |node: &RedisServer| {
            let info: String = node.run("CLUSTER INFO");
            info.contains("cluster_state:ok") && info.contains(&format!("cluster_known_nodes:{size}\r"))
        };
        self.nodes.iter().all(formed)
    }

    /// As a URL, by way of some of its nodes.
    pub fn url(&self) -> String {
        let nodes: Vec<String> = self.nodes.iter().take(2).map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("redis+cluster://{}", nodes.join(","))
    }

    pub fn id(&self, node: usize) -> String {
        self.nodes[node].run("CLUSTER MYID")
    }

    /// The slot of a key, and the node that has it.
    pub fn owner(&self, key: &str) -> (u16, usize) {
        let slot: u16 = self.nodes[0].run(&format!("CLUSTER KEYSLOT {key}"));
        let owner = (0..self.nodes.len()).find(|node| {
            let nodes: String = self.nodes[*node].run("CLUSTER NODES");
            let own = nodes.lines().find(|line| line.contains("myself")).expect("itself").to_owned();
            own.split(' ').skip(8).any(|range| {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                matches!((first.parse::<u16>(), last.parse::<u16>()), (Ok(a), Ok(b)) if (a..=b).contains(&slot))
            })
        });
        (slot, owner.expect("an owner"))
    }

    /// Makes a node without slots the replica of another one.
    pub fn replicate(&self, replica: usize, master: usize) {
        self.nodes[replica].run::<()>(&format!("CLUSTER REPLICATE {}", self.id(master)));
        eventually("the replica is in step", || self.nodes[replica].replicates("master_link_status:up"));
    }

    /// Begins to move a slot.
    pub fn begin_move(&self, slot: u16, from: usize, to: usize) {
        self.nodes[to].run::<()>(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", self.id(from)));
        self.nodes[from].run::<()>(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", self.id(to)));
    }

    /// Moves the keys of a slot.
    pub fn move_keys(&self, slot: u16, from: usize, to: usize) {
        let keys: Vec<String> = self.nodes[from].run(&format!("CLUSTER GETKEYSINSLOT {slot} 100"));
        for key in keys {
            self.nodes[from].run::<()>(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", self.nodes[to].port));
        }
    }

    /// Says that a slot has moved.
    pub fn end_move(&self, slot: u16, from: usize, to: usize) {
        let id = self.id(to);
        for node in [to, from] {
            self.nodes[node].run::<()>(&format!("CLUSTER SETSLOT {slot} NODE {id}"));
        }
        sleep(Duration::from_millis(100));
    }

    /// How often a command was called on all nodes.
    pub fn calls(&self, command: &str) -> u64 {
        self.nodes.iter().map(|node| node.calls(command)).sum()
    }
}
