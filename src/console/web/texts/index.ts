/** All that people read, in one language: another one is another object of this type. */
import { account } from './en/account.ts'
import { agentTexts, newToken, wizard } from './en/agents.ts'
import { allowlist } from './en/allowlist.ts'
import { noticeTargetTexts } from './en/approvals/notice_targets.ts'
import { waitingTexts } from './en/approvals/waiting.ts'
import { audit } from './en/audit/index.ts'
import { common } from './en/common.ts'
import { errors } from './en/errors.ts'
import { firstSteps } from './en/first_steps.ts'
import { historyTexts } from './en/history.ts'
import { insecure } from './en/insecure.ts'
import { instanceTexts } from './en/instance.ts'
import { live } from './en/live.ts'
import { members } from './en/members.ts'
import { notices } from './en/notices.ts'
import { partTexts } from './en/parts/index.ts'
import { passkeyTexts } from './en/passkeys.ts'
import { policies } from './en/policies.ts'
import { removing } from './en/removing.ts'
import { secretTexts } from './en/secrets.ts'
import { start } from './en/start.ts'
import { workspaceTexts } from './en/workspaces.ts'

export const texts = {
  account,
  agents: agentTexts,
  allowlist,
  audit,
  insecure,
  instance: instanceTexts,
  common,
  errors,
  firstSteps,
  history: historyTexts,
  live,
  members,
  newToken,
  notices,
  noticeTargets: noticeTargetTexts,
  parts: partTexts,
  passkeys: passkeyTexts,
  policies,
  removing,
  secrets: secretTexts,
  start,
  waiting: waitingTexts,
  wizard,
  workspaces: workspaceTexts,
}

/** What a code means, and what helps. */
export function helpFor(code: string): { said?: string; help?: string } {
  return texts.errors.byCode[code] ?? {}
}
