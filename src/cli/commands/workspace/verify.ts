import { UntrustedChain } from '../../../client/signed/chain.ts'
import { hashInGroups } from '../../../client/signed/trust.ts'
import { type CheckedToken, verifyWorkspace } from '../../../client/signed/verified_workspace.ts'
import type { WorkspaceEntry } from '../../../client/workspaces.ts'
import {
  type Chain,
  identityFingerprint,
  isRekeyDue,
  readFirstHash,
} from '../../../sigchain/index.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { chooseAnyWorkspace, demandSigned, type Place } from '../../teams/workspaces.ts'
import { formatCount } from '../../terminal/confirmed.ts'

/** Returns 0 if all data from the server matches the signatures, otherwise 1. */
export default command({
  usage: 'verify',
  examples: ['workspace verify', 'workspace verify -w acme --json'],
  action: async (context) => {
    const place = await chooseAnyWorkspace(context)
    const { session, workspace } = place
    demandSigned(workspace)
    try {
      const { epoch } = await session.chains.of(workspace)
      const work = checkKeyAt(place, epoch)
      const checked = await context.output.during('reading and verifying everything', work)
      const faults = [...faultsOf(place), ...checked.differences, ...faultsIn(checked)]
      await show(context, workspace, checked.chain, { ...checked, faults })
      return faults.length === 0 ? 0 : 1
    } catch (error) {
      if (!(error instanceof UntrustedChain)) throw error
      context.output.record({ workspace: workspace.name, verdict: 'refused', why: error.message })
      return 1
    }
  },
})

type Checked = Awaited<ReturnType<typeof verifyWorkspace>>

/** Also checks a workspace whose key cannot be decrypted, as far as that needs no key. */
function checkKeyAt({ session, workspace }: Place, epoch: number): Promise<Checked> {
  const unopened = { ...workspace, epoch, key: new Uint8Array() }
  return verifyWorkspace(session.api, workspace.shown ?? unopened, session.chains)
}

function faultsOf({ workspace: { fault, shown } }: Place): string[] {
  if (fault) return [fault.message]
  return shown ? [] : ['its key cannot be decrypted with your private key']
}

type Listed = Pick<Checked, 'environments' | 'tokens'>

function faultsIn({ environments, tokens }: Listed): string[] {
  const ofTokens = (tokens ?? []).filter(({ verdict }) => verdict === 'refused')
  return [
    ...environments.flatMap(({ project, environment, fault }) =>
      fault ? [`${project}/${environment}: ${fault}`] : [],
    ),
    ...ofTokens.map(
      ({ label, id, granted_by, fingerprint, why }) =>
        `token ${label} (${id}), which claims to be granted by ${granted_by ?? 'nobody'}, ${fingerprint}: ${why}`,
    ),
  ]
}

async function show(
  { output }: Context,
  { name }: WorkspaceEntry,
  chain: Chain,
  { environments, tokens, faults }: Listed & { faults: readonly string[] },
): Promise<void> {
  const people = [...chain.members.values()]
  const members = await Promise.all(
    people.map(async (member) => ({
      email: member.email,
      role: member.role,
      fingerprint: await identityFingerprint(member),
    })),
  )
  const about = {
    workspace: name,
    verdict: faults.length === 0 ? 'verified' : 'refused',
    ...(faults.length > 0 && { why: faults }),
    links: chain.seq,
    epoch: chain.epoch,
    rekey_required: isRekeyDue(chain) ? 'yes' : '',
    fingerprint: hashInGroups(readFirstHash(chain)),
    allowlist: [...chain.allowlist].sort(),
  }
  if (output.isJson) {
    output.record({ ...about, members, environments, tokens })
    return
  }
  const checked = summaryOf(members.length, { environments, tokens })
  output.record(
    { ...about, allowlist: about.allowlist.join(', ') || '(none)', checked },
    about.verdict,
  )
  if (output.isQuiet) return
  output.table(members, ['email', 'role', { field: 'fingerprint', whole: true }])
  output.table(environments, ['project', 'environment', 'revision', 'secrets'])
  if (tokens) output.table(tokens, ['label', 'id', 'granted_by', 'fingerprint', 'verdict'])
}

function summaryOf(members: number, { environments, tokens }: Listed): string {
  const written = environments.filter(({ revision }) => revision > 0).length
  const count = (wanted: CheckedToken['verdict']) =>
    formatCount((tokens ?? []).filter(({ verdict }) => verdict === wanted).length, 'token')
  return [
    formatCount(members, 'member'),
    `${formatCount(written, 'environment')} with manifests`,
    ...(tokens
      ? [
          `${count('verified')} verified, ${count('refused')} refused, ${count('not granted')} not granted`,
        ]
      : ['tokens omitted: only admins can list them']),
  ].join('; ')
}
