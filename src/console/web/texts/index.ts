/** All texts of the console in one language. Another language is another object of this type. */
import { account } from './en/account.ts'
import { agentTexts, limitTexts } from './en/agents/index.ts'
import { newToken, wizard } from './en/agents/new_token.ts'
import { allowlist } from './en/allowlist.ts'
import { noticeTargetTexts } from './en/approvals/notice_targets.ts'
import { waitingTexts } from './en/approvals/waiting.ts'
import { audit } from './en/audit/index.ts'
import { common } from './en/common.ts'
import { connectTexts } from './en/connections/sheet.ts'
import { errors } from './en/errors/index.ts'
import { firstSteps } from './en/first_steps.ts'
import { historyTexts } from './en/history.ts'
import { insecure } from './en/insecure.ts'
import { instanceTexts } from './en/instance.ts'
import { live } from './en/live.ts'
import { members } from './en/members.ts'
import { notices } from './en/notices.ts'
import { overviewTexts } from './en/overview.ts'
import { palette } from './en/palette.ts'
import { partTexts } from './en/parts/index.ts'
import { passkeyTexts } from './en/passkeys.ts'
import { policies } from './en/policies.ts'
import { inspectorTexts } from './en/secrets/inspector.ts'
import { matrixTexts } from './en/secrets/matrix.ts'
import { removing } from './en/secrets/removing.ts'
import { sheetTexts } from './en/secrets/sheets.ts'
import { start } from './en/start.ts'
import { workspaceTexts } from './en/workspaces.ts'

export const texts = {
  account,
  agents: agentTexts,
  allowlist,
  audit,
  insecure,
  inspector: inspectorTexts,
  instance: instanceTexts,
  common,
  connect: connectTexts,
  errors,
  firstSteps,
  history: historyTexts,
  limits: limitTexts,
  live,
  matrix: matrixTexts,
  members,
  newToken,
  notices,
  noticeTargets: noticeTargetTexts,
  overview: overviewTexts,
  palette,
  parts: partTexts,
  passkeys: passkeyTexts,
  policies,
  removing,
  secretSheets: sheetTexts,
  start,
  waiting: waitingTexts,
  wizard,
  workspaces: workspaceTexts,
}

/** The sentence and the fix for an error code. */
export function helpFor(code: string): { said?: string; help?: string } {
  return texts.errors.byCode[code] ?? {}
}

/** Tokens of several agents may have the same label. `agent` is null for the token of a workload. */
export function tokenName({ agent, label }: { agent: string | null; label: string }): string {
  return agent === null || agent === label ? label : `${agent} · ${label}`
}
