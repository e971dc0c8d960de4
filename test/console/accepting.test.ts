// tier: quick
/** Accepts an invitation on a server that shows one history for the comparison and another one afterwards. */
import { beforeAll, expect, test } from 'bun:test'
import { invitePeople, readMembers, readPerson } from '../../src/client/actions/members.ts'
import { createKnownChains, type KnownEntry } from '../../src/client/signed/known_chains.ts'
import { chainsOf } from '../../src/client/signed/trust.ts'
import { workspacesCommands } from '../../src/console/web/keys/commands/workspaces.ts'
import { SeenNames } from '../../src/console/web/keys/names.ts'
import type { UnlockedSession } from '../../src/console/web/keys/unlocked_session.ts'
import { keyCommitment } from '../../src/core/crypto/key_commitment.ts'
import { listLinks } from '../../src/features/links/contract.ts'
import {
  emptyChain,
  extend,
  identityOf,
  type LinkChange,
  readFirstHash,
  type SignedText,
  signLink,
} from '../../src/sigchain/index.ts'
import { freshEmail, sharedApp, type TestApp } from '../support/app.ts'
import { signUp } from './accounts.ts'
import { elsewhere, memory } from './elsewhere.ts'

const { accept, decline, invitation } = workspacesCommands

const AT = '2026-11-22T00:00:00.000Z'
let app: TestApp

beforeAll(async () => {
  app = await sharedApp()
})

async function person(name: string) {
  const email = freshEmail(name)
  await signUp(app.controlPlane, email)
  return elsewhere(app.controlPlane, email)
}

/** The worker's unlocked session, with its pins. `read` replaces the server's list of links. */
function sessionOf(
  { api, reader, email }: Awaited<ReturnType<typeof person>>,
  userId: string,
  read: (links: SignedText[], workspaceId?: string) => SignedText[],
) {
  const chains = memory<KnownEntry>()
  const lying: typeof api = {
    ...api,
    call: async (endpoint, input) => {
      const answer = await api.call(endpoint, input)
      return (
        endpoint.name === listLinks.name
          ? read(
              answer as SignedText[],
              (input as { params?: { workspace_id?: string } }).params?.workspace_id,
            )
          : answer
      ) as typeof answer
    },
  }
  const trust = {
    ...reader.trust,
    chains: chainsOf(lying, createKnownChains(chains), { met() {}, rekeyed() {} }),
  }
  const own = { ...reader, api: lying, trust, userId, email }
  const names = new SeenNames(
    { names: memory() } as unknown as UnlockedSession['memory'],
    () => userId,
    () => {},
  )
  const held = { api: lying, memory: { chains }, names, reader: () => own }
  return { held: held as unknown as UnlockedSession, chains, trust }
}

test('the console pins the history that was compared, whatever the server shows afterwards', async () => {
  const bob = await person('bob')
  const ada = await person('ada')
  const found = await readPerson(bob.api, ada.email)
  if (!found) throw new Error('there is no such account')
  await invitePeople({ api: bob.api, workspace: bob.workspace }, [found], 'member', new Set())
  const { id: workspaceId, key } = bob.workspace
  const genuine = await bob.chains.readNewerLinks(bob.workspace)

  // A history with the same workspace and key, which the server founded under Bob's email.
  const forger = await identityOf(new Uint8Array(32).fill(9))
  const { signing_key, public_key } = forger
  const [signer = ''] = [...genuine.members.keys()]
  const founder = { user_id: signer, email: bob.email, signing_key, public_key }
  const guest = genuine.members.get(found.user_id)
  if (!guest) throw new Error('nobody was invited')
  const key_commitment = keyCommitment(workspaceId, 1, key)
  const changes: LinkChange[] = [
    { type: 'workspace.created', body: { founder, epoch: 1, key_commitment }, at: AT, signer },
    { type: 'members.put', body: { members: [guest] }, at: AT, signer },
  ]
  const forged: SignedText[] = []
  let chain = emptyChain(workspaceId)
  for (const change of changes) {
    const link = await signLink(chain, change, forger.signingKey)
    chain = await extend(chain, [link])
    forged.push(link)
  }

  let reads = 0
  const { held, chains, trust } = sessionOf(ada, found.user_id, (links, id) => {
    if (id !== workspaceId) return links
    reads += 1
    return reads <= 2 ? links : forged
  })
  const expected = { first: readFirstHash(genuine), inviter: bob.email }
  const shown = await invitation(held, { workspaceId, expected })
  const seen = shown.found?.seen ?? null
  expect(seen).toBe(expected.first)
  await accept(held, { workspaceId, expected, seen })
  expect(chains.of(workspaceId)?.head).toBe(genuine.head)
  const later = trust.chains.of({ id: workspaceId, name: 'Personal' })
  expect(later).rejects.toThrow('does not match its signatures')
})

test('an invitation without a link accepts exactly the history that was shown', async () => {
  const cyd = await person('cyd')
  const dan = await person('dan')
  const found = await readPerson(cyd.api, dan.email)
  if (!found) throw new Error('there is no such account')
  await invitePeople({ api: cyd.api, workspace: cyd.workspace }, [found], 'member', new Set())
  const { id: workspaceId } = cyd.workspace
  const { held } = sessionOf(dan, found.user_id, (links) => links)
  const other = accept(held, { workspaceId, expected: null, seen: 'A'.repeat(43) })
  expect(other).rejects.toMatchObject({ code: 'other_workspace' })
  const shown = await invitation(held, { workspaceId, expected: null })
  await accept(held, { workspaceId, expected: null, seen: shown.found?.seen ?? null })
})

test('an invitation that was sealed to replaced keys is called unreadable, and nothing is accepted', async () => {
  const gil = await person('gil')
  const hal = await person('hal')
  const found = await readPerson(gil.api, hal.email)
  if (!found) throw new Error('there is no such account')
  await invitePeople({ api: gil.api, workspace: gil.workspace }, [found], 'member', new Set())
  const { id: workspaceId } = gil.workspace
  const seed = new Uint8Array(32).fill(7)
  const { privateKey, public_key } = await identityOf(seed)
  const publicKey = Buffer.from(public_key, 'base64')
  const replaced = { ...hal.reader, privateKey, publicKey, identity: () => identityOf(seed) }
  const { held, chains } = sessionOf({ ...hal, reader: replaced }, found.user_id, (links) => links)
  const seen = readFirstHash(await gil.chains.of(gil.workspace))
  const refused = accept(held, { workspaceId, expected: null, seen })
  expect(refused).rejects.toMatchObject({ code: 'unreadable_workspace' })
  await refused.catch(() => {})
  expect(chains.of(workspaceId)).toBeUndefined()
  const listed = await readMembers({ api: gil.api, workspace: gil.workspace })
  expect(listed.find(({ email }) => email === hal.email)?.status).toBe('invited')
})

test('declining an invitation pins nothing, and also works for an invalid history', async () => {
  const eve = await person('eve')
  const fay = await person('fay')
  const found = await readPerson(eve.api, fay.email)
  if (!found) throw new Error('there is no such account')
  const { id: workspaceId } = eve.workspace
  const invited = () =>
    invitePeople({ api: eve.api, workspace: eve.workspace }, [found], 'member', new Set())
  for (const read of [(links: SignedText[]) => links, (links: SignedText[]) => links.slice(1)]) {
    await invited()
    const { held, chains } = sessionOf(fay, found.user_id, read)
    await decline(held, { workspaceId })
    expect(chains.of(workspaceId)).toBeUndefined()
    expect((await invitation(held, { workspaceId, expected: null })).found).toBeNull()
  }
})
