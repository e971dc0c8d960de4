/** Checks a member's right to sign a change before it is signed. A refusal names the members with that right. */
import type { Permission } from '../../core/grant.ts'
import { matrix, roleSentences } from '../../core/roles.ts'
import { type Chain, type LinkChange, mayChangeMember } from '../../sigchain/index.ts'
import { ApiError } from '../http/api.ts'
import type { Named } from '../known_names.ts'

type Role = 'owner' | 'admin' | 'member' | 'read_only'
type Holder = { email: string; role: string }
type Said = LinkChange extends infer Each
  ? Each extends LinkChange
    ? Pick<Each, 'type' | 'body'>
    : never
  : never

/** A refusal that names the members with the required role. */
export class RoleRefusal extends ApiError {}

/** The sentence that a person reads: the role needed, their own, and who has it. */
export function roleDenied(
  { name }: { name: string },
  held: string,
  needed: readonly string[],
  members: readonly Holder[],
): RoleRefusal {
  // Some changes among administrators are for owners only.
  const wanted = needed.includes(held) ? ['owner'] : needed
  const able = wanted.flatMap((role) => members.filter((member) => member.role === role))
  const who = able.map(({ email, role }) => `${email} (${role})`).join(', ')
  const message = roleSentences(wanted, held, name)
  const ask = who === '' ? '' : ` Ask ${who}.`
  return new RoleRefusal(403, { error_code: 'forbidden', message: `${message}${ask}` })
}

/** @throws ApiError `forbidden` */
export function requireRight(chain: Chain, workspace: Named, signer: string, said: Said): void {
  const held = chain.members.get(signer)?.role
  if (held === undefined || isPermitted(chain, held, signer, said)) return
  throw roleDenied(workspace, held, listNeededRoles(said), [...chain.members.values()])
}

/** Checks the right to sign grants, envelopes and manifests, which are no links. @throws ApiError `forbidden` */
export function requireRole(
  chain: Chain,
  workspace: Named,
  signer: string,
  permission: Permission,
): void {
  const held = chain.members.get(signer)?.role
  if (held === undefined || matrix[permission].includes(held)) return
  throw roleDenied(workspace, held, matrix[permission], [...chain.members.values()])
}

function listNeededRoles({ type }: Said): readonly string[] {
  return type === 'workspace.deleted' ? matrix['workspace.delete'] : matrix['member.manage']
}

function isPermitted({ members }: Chain, held: Role, signer: string, said: Said): boolean {
  switch (said.type) {
    case 'workspace.created':
    case 'keys.rotated':
      return true
    case 'members.put':
      return said.body.members.every(({ user_id, role }) => {
        const from = members.get(user_id)?.role
        return from === undefined
          ? mayChangeMember(held, { kind: 'invite', role, pending: null })
          : mayChangeMember(held, { kind: 'set_role', from, to: role })
      })
    case 'members.removed':
      return said.body.user_ids.every((userId) => {
        const from = members.get(userId)?.role ?? 'read_only'
        return mayChangeMember(held, { kind: 'remove', from, self: userId === signer })
      })
    default:
      return listNeededRoles(said).includes(held)
  }
}
