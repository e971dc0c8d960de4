/** What may be done about a member, by what the rules of signed workspaces let the own role do. */
import type { Role } from '../../../../core/grant.ts'
import { mayChangeMember } from '../../../../sigchain/member_rules.ts'
import { Button } from '../../parts/button.tsx'
import { Menu } from '../../parts/overlays/menu.tsx'
import { texts } from '../../texts/index.ts'
import type { EndingTokens, ListedMember } from './ending.tsx'

const words = texts.members
const roles: readonly Role[] = ['owner', 'admin', 'member', 'read_only']

type Props = { member: ListedMember; ownRole: Role }

export function RoleChoice({
  member,
  ownRole,
  onChoose,
}: Props & { onChoose(ending: EndingTokens): void }) {
  const { role: from, email } = member
  const possible = roles.filter(
    (to) => to !== from && mayChangeMember(ownRole, { kind: 'set_role', from, to }),
  )
  if (possible.length === 0) return words.roles[from]
  const choices = possible.map((role) => ({
    id: role,
    label: words.roles[role],
    act: () => onChoose({ member, role }),
  }))
  const shown = words.roles[from]
  return <Menu label={`${shown} ▾`} name={words.roleOf(email, shown)} choices={choices} />
}

export function MemberActions({
  member,
  ownRole,
  onRemove,
}: Props & { onRemove(ending: EndingTokens): void }) {
  const { role: from, isOwn, status, email } = member
  if (!mayChangeMember(ownRole, { kind: 'remove', from, self: isOwn })) return null
  const other = status === 'invited' ? words.withdraw : words.remove
  return (
    <Button
      kind="quiet"
      aria-label={isOwn ? words.leave : words.removeNamed(email)}
      onPress={() => onRemove({ member, role: null })}
    >
      {isOwn ? words.leave : other}
    </Button>
  )
}
