//! Slurm with two nodes on this machine, in a folder of its own and on ports of its own, for as long as a test lasts.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Ended, finish};

/// Daemons end by themselves after this time, whatever becomes of the test.
const LIFE_SECONDS: &str = "600";
/// Nodes are idle after this time or never.
const START: Duration = Duration::from_secs(30);

/// Daemons of a cluster; they and all that they started end with it.
pub struct Cluster {
    folder: tempfile::TempDir,
    daemons: Vec<(&'static str, Child)>,
}

/// Where programs are; daemons lie in folders of root's search path.
fn search_path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

fn is_there(program: &str) -> bool {
    search_path().split(':').any(|folder| Path::new(folder).join(program).is_file())
}

/// A port that nobody listens to.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits until `condition` holds; panics with `what` after `patience`.
pub fn wait_until(patience: Duration, what: &dyn Fn() -> String, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < patience, "{}", what());
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Cluster {
    /// Starts a cluster; says on standard output why there can be none. One that does not come up is a failure.
    pub fn start() -> Option<Self> {
        if let Err(reason) = Self::can_be_here() {
            println!("skipped: {reason}");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        // The socket of munged has to be in the reach of everybody.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut cluster = Self { folder, daemons: Vec::new() };
        cluster.write_configuration();
        cluster.launch();
        Some(cluster)
    }

    fn can_be_here() -> Result<(), String> {
        for program in ["munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "timeout"] {
            if !is_there(program) {
                return Err(format!("there is no {program} (Debian: slurmctld, slurmd, slurm-client, munge)"));
            }
        }
        match is_root() {
            true => Ok(()),
            false => Err("Slurm's daemons need root".to_owned()),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_configuration(&self) {
        let dir = self.folder.path().display();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap();
        let [control, one, two] = [free_port(), free_port(), free_port()];
        for name in ["state", "spool.n1", "spool.n2", "tmp.n1", "tmp.n2"] {
            fs::create_dir(self.path(name)).unwrap();
        }
        let mut key = [0; 64];
        std::io::Read::read_exact(&mut fs::File::open("/dev/urandom").unwrap(), &mut key).unwrap();
        fs::write(self.path("key"), key).unwrap();
        fs::set_permissions(self.path("key"), fs::Permissions::from_mode(0o600)).unwrap();
        // A requeued job waits until its credential has expired, by default two minutes.
        let text = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={control}\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={dir}/munge.socket,cred_expire=5\nCredType=cred/munge\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             SchedulerParameters=sched_interval=1,bf_interval=1\nKillWait=5\nReturnToService=2\n\
             SlurmdParameters=config_overrides\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nGresTypes=gpu\n\
             StateSaveLocation={dir}/state\nSlurmdSpoolDir={dir}/spool.%n\nTmpFS={dir}/tmp.%n\n\
             SlurmctldPidFile={dir}/slurmctld.pid\nSlurmdPidFile={dir}/slurmd.%n.pid\n\
             SlurmctldLogFile={dir}/slurmctld.log\nSlurmdLogFile={dir}/slurmd.%n.log\n\
             NodeName=DEFAULT CPUs=12 Sockets=1 CoresPerSocket=12 ThreadsPerCore=1 Gres=gpu:1 State=UNKNOWN\n\
             NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={one}\n\
             NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={two}\n\
             PartitionName=test Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP\n"
        );
        fs::write(self.path("slurm.conf"), text).unwrap();
        fs::write(self.path("gres.conf"), "Name=gpu File=/dev/null\n").unwrap();
    }

    fn launch(&mut self) {
        let file = |name: &str| self.path(name).display().to_string();
        let munged = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            format!("--key-file={}", file("key")),
            format!("--socket={}", file("munge.socket")),
            format!("--pid-file={}", file("munged.pid")),
            format!("--log-file={}", file("munged.log")),
            format!("--seed-file={}", file("munged.seed")),
        ];
        let socket = self.path("munge.socket");
        self.daemon("munged", munged);
        self.wait("munged", || socket.exists());
        self.daemon("slurmctld", ["-D", "-i"].map(str::to_owned));
        for node in ["n1", "n2"] {
            self.daemon("slurmd", ["-D", "-N", node].map(str::to_owned));
        }
        let mut idle = self.command("sinfo", &["--noheader", "--Node", "--format=%T"]);
        self.wait("slurmd", || {
            let states = idle.output().unwrap().stdout;
            String::from_utf8_lossy(&states).lines().filter(|state| *state == "idle").count() == 2
        });
    }

    fn daemon(&mut self, program: &'static str, args: impl IntoIterator<Item = String>) {
        let log = fs::File::create(self.path(&format!("{program}.{}.out", self.daemons.len()))).unwrap();
        let mut command = self.command("timeout", &["--kill-after=5", LIFE_SECONDS, program]);
        command.args(args).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.daemons.push((program, command.spawn().unwrap()));
    }

    /// Waits for what a daemon has to do.
    fn wait(&mut self, daemon: &str, mut ready: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !ready() {
            let gone = self.daemons.iter_mut().any(|(_, child)| child.try_wait().unwrap().is_some());
            assert!(!gone && begun.elapsed() < START, "{daemon} does not start\n{}", self.last_words());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Last lines of all daemons.
    pub fn last_words(&self) -> String {
        let mut text = String::new();
        for (k, (program, _)) in self.daemons.iter().enumerate() {
            let out = fs::read(self.path(&format!("{program}.{k}.out"))).unwrap_or_default();
            let out = String::from_utf8_lossy(&out).into_owned();
            let lines: Vec<&str> = out.lines().rev().take(8).collect();
            text += &format!("{program}:\n{}\n", lines.into_iter().rev().collect::<Vec<_>>().join("\n"));
        }
        text + &self.ranks()
    }

    /// What the threads of running ranks wait for and which signals they have, to explain one that hangs.
    fn ranks(&self) -> String {
        let mut text = String::new();
        for id in self.processes() {
            let read = |name: &str| fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default();
            if read("comm").trim() != "atmostr" {
                continue;
            }
            let status = read("status");
            let signals = status.lines().filter(|line| line.starts_with("Sig") || line.starts_with("ShdPnd"));
            text += &format!("rank of process {id}: {}\n", signals.collect::<Vec<_>>().join(", ").replace('\t', " "));
            for thread in fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten() {
                let of = |name: &str| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
                text +=
                    &format!("  {} in {:?}, system call {}\n", of("comm").trim(), of("wchan"), of("syscall").trim());
            }
        }
        text
    }

    /// A command for this cluster and for no other.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if ["SLURM", "SBATCH", "SRUN", "ATMOSTR"].iter().any(|of| name.to_string_lossy().starts_with(of)) {
                command.env_remove(&name);
            }
        }
        command.env("PATH", search_path()).env("SLURM_CONF", self.path("slurm.conf"));
        command.env("ATMOSTR", env!("CARGO_BIN_EXE_atmostr"));
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_mpi_yield_when_idle"] {
            command.env(name, "1");
        }
        // Both nodes have the memory of this machine; their ranks must not take segments of the same name.
        command.env("OMPI_MCA_btl", "self,tcp");
        command.args(args);
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, dir: &Path, program: &str, args: &[&str]) -> Ended {
        finish(self.command(program, args), dir)
    }

    /// Submits a job; its number.
    pub fn submit(&self, dir: &Path, args: &[&str]) -> String {
        self.run(dir, "sbatch", &[&["--parsable"], args].concat()).succeed().stdout.trim().to_owned()
    }

    /// State of a job: PENDING, RUNNING, COMPLETED …
    pub fn state(&self, job: &str) -> String {
        let text = self.run(self.folder.path(), "scontrol", &["show", "job", job]).stdout;
        let state = text.split_whitespace().find_map(|word| word.strip_prefix("JobState="));
        state.unwrap_or("unknown").to_owned()
    }

    /// Waits until no job waits or runs.
    pub fn idle(&self, patience: Duration) {
        let jobs = || self.run(self.folder.path(), "squeue", &["--noheader"]).succeed().stdout;
        wait_until(patience, &|| format!("jobs do not end\n{}\n{}", jobs(), self.last_words()), || jobs().is_empty());
    }

    /// Processes that know this cluster by their environment: daemons, jobs, and what watches over jobs.
    pub fn processes(&self) -> Vec<u32> {
        processes_with(&format!("SLURM_CONF={}", self.path("slurm.conf").display()))
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&id).trim() == "0"
}

/// Processes whose environment has this entry.
fn processes_with(entry: &str) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let has_it = |id: &u32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == entry.as_bytes())
    };
    numbers.filter(has_it).collect()
}

fn signal(name: &str, id: u32) {
    // A process that has ended meanwhile needs no signal.
    let _ = Command::new("kill").args(["-s", name, &id.to_string()]).stderr(Stdio::null()).status();
}

impl Drop for Cluster {
    /// Jobs first, then the daemons, then whatever is left, each by its number.
    fn drop(&mut self) {
        let quiet = |mut command: Command| command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = quiet(self.command("timeout", &["5", "scancel", "--user=root", "--signal=KILL", "--full"]));
        let _ = quiet(self.command("timeout", &["5", "scancel", "--user=root"]));
        for (_, child) in self.daemons.iter_mut().rev() {
            // `timeout` passes it on, and makes sure of it after some seconds.
            signal("TERM", child.id());
            let _ = child.wait();
        }
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            let left = self.processes();
            if left.is_empty() {
                break;
            }
            left.into_iter().for_each(|id| signal("KILL", id));
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
