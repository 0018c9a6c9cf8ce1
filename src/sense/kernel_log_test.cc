#include "sense/kernel_log.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

TEST(ParseKernelRecord, ReadsOneRecordAndLeavesItsDictionary) {
  const auto record = ParseKernelRecord("4,812,98765432,-;python[42]: segfault at 0\n DEVICE=+x\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->level, 4);
  EXPECT_EQ(record->number, 812);
  EXPECT_EQ(record->at, std::chrono::microseconds(98765432));
  EXPECT_EQ(record->text, "python[42]: segfault at 0");
  EXPECT_FALSE(ParseKernelRecord("no semicolon"));
  EXPECT_FALSE(ParseKernelRecord("a,b,c,-;text"));
  EXPECT_FALSE(ParseKernelRecord("4,812;text"));
}

TEST(KernelLineMatters, TellsTroubleFromChatter) {
  for (const char* line : {
           "Memory cgroup out of memory: Killed process 42 (python3) total-vm:1kB",
           "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python3,pid=42,uid=0",
           "python3[42]: segfault at 10 ip 00007f sp 00007ffd error 4 in libc.so.6[7f+1]",
           "traps: python3[42] trap invalid opcode ip:7f sp:7ff error:0 in x.so[7f+1]",
           "NVRM: Xid (PCI:0000:65:00): 79, pid=42, GPU has fallen off the bus.",
           "INFO: task python3:42 blocked for more than 120 seconds.",
           "Buffer I/O error on dev sda1, logical block 5, async page read",
           "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm python3",
           "nfs: server storage not responding, still trying",
           "mce: [Hardware Error]: Machine check events logged",
           "cgroup: fork rejected by pids controller in /job",
       }) {
    EXPECT_TRUE(KernelLineMatters(line)) << line;
  }
  for (const char* line : {
           "EXT4-fs (sda1): mounted filesystem with ordered data mode. Quota mode: none.",
           "XFS (sdb1): Ending clean mount",
           "eth0: link becomes ready",
           " oom_kill_process.cold+0x8/0x8a",
           "[  pid  ]   uid  tgid total_vm      rss oom_score_adj name",
           "memory.oom_control is deprecated",
           "systemd[1]: Started Session 2 of User a.",
           "",
       }) {
    EXPECT_FALSE(KernelLineMatters(line)) << line;
  }
}

TEST(MentionsPid, FindsWholePidsOnlyWhereTheKernelWritesThem) {
  EXPECT_TRUE(MentionsPid("Killed process 42 (python3)", 42));
  EXPECT_TRUE(MentionsPid("task=python3,pid=42,uid=0", 42));
  EXPECT_TRUE(MentionsPid("python3[42]: segfault", 42));
  EXPECT_TRUE(MentionsPid("task python3:42 blocked for more than", 42));
  EXPECT_FALSE(MentionsPid("Killed process 423 (python3)", 42));
  EXPECT_FALSE(MentionsPid("Killed process 142 (python3)", 42));
  EXPECT_FALSE(MentionsPid("total-vm:42kB", 42));
}

TEST(KernelLog, SaysWhyItCannotBeRead) {
  const auto log = KernelLog::Open("/nonexistent/kmsg");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, Error::Code::kNotFound);
}

}  // namespace
}  // namespace whystop
