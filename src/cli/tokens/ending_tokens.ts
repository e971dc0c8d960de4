/** Tokens that end with the rights or keys of the person who signed them: which of them stay is asked before. */
import { memberNamed } from '../../client/actions/members.ts'
import { type SignedToken, tokensSignedBy } from '../../client/signed/kept_tokens.ts'
import type { Identity, Member } from '../../sigchain/index.ts'
import type { Context } from '../context.ts'
import type { Host } from '../host.ts'
import { buildNotFoundError } from '../named.ts'
import type { WorkspaceScope } from '../scope.ts'
import { formatCount } from '../terminal/confirmed.ts'

type Options = { keepToken: string[] | undefined; yes?: boolean | undefined }

/**
 * The tokens to keep, which the change signs again. A token is kept only if it is named or the person
 * says so.
 *
 * @throws CliError for a token that is not one of them; nothing was done then
 */
export async function keepTokensOf(
  context: Context,
  { session, workspace }: WorkspaceScope,
  typed: string,
  options: Options,
): Promise<SignedToken[]> {
  const chain = await workspace.chain()
  if (!chain) return []
  const member = memberNamed(chain, typed)
  // A leaving member cannot sign for the others.
  if (!isAdmin(member) || isOwn(member, await session.identity())) return []
  const { held: found } = await tokensSignedBy(session.api, chain, member.user_id)
  return keepAmong(context, member.email, found, options)
}

/** Like `keepTokensOf`, for the tokens that one person signed in all workspaces. @throws as `keepTokensOf` */
export async function keepAmong(
  context: Context,
  signer: string,
  found: readonly SignedToken[],
  { keepToken, yes }: Options,
): Promise<SignedToken[]> {
  if (found.length > 0) tell(context, signer, found)
  if (keepToken) return selectNamed(found, keepToken)
  return yes ? [] : askWhichToKeep(context.host, found)
}

function tell({ output }: Context, email: string, found: readonly SignedToken[]): void {
  output.warn(
    `${email} signed ${formatCount(found.length, 'token')}, which end now unless you keep them:`,
    ...found.map((each) => `  ${wordsOf(each)}`),
  )
}

function wordsOf({ token, grant, places }: SignedToken): string {
  const where = places.map(({ environment }) => environment).join(', ')
  return `${grant.kind} token ${grant.label} ${token.id} (${where || 'no environment'})`
}

function selectNamed(found: readonly SignedToken[], ids: readonly string[]): SignedToken[] {
  return ids.map((id) => {
    const token = found.find((each) => each.token.id === id)
    if (token) return token
    const known = found.map((each) => each.token.id)
    throw buildNotFoundError(id, known, { what: 'such token', list: 'token list <agent>' })
  })
}

/** Asks, because anyone who knows the token can continue to use it. */
async function askWhichToKeep(host: Host, found: readonly SignedToken[]): Promise<SignedToken[]> {
  const { askConfirmation, hasTerminal } = await import('../terminal/prompts.ts')
  const kept: SignedToken[] = []
  if (!hasTerminal(host)) return kept
  for (const token of found) {
    if (await askConfirmation(host, `Keep the ${wordsOf(token)}? Its creator may still know it`)) {
      kept.push(token)
    }
  }
  return kept
}

/** Grants by others do not apply. */
function isAdmin(member: Member | null): member is Member {
  return member?.role === 'owner' || member?.role === 'admin'
}

function isOwn({ signing_key }: Member, identity: Identity): boolean {
  return signing_key === identity.signing_key
}
