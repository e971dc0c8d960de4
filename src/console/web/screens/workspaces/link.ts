/** The link of an invitation: what the invited person's first sight of the workspace is held against. */

/** `first` is the hash of its first link, `by` the address of who invites. */
export type InvitationLink = { server: string; workspace: string; first: string; by: string }

const FIELDS = ['server', 'workspace', 'first', 'by'] as const

export function linkOf(link: InvitationLink): string {
  const fields = new URLSearchParams(FIELDS.map((name) => [name, link[name]]))
  return `${new URL(link.server).origin}/console/invitation#${fields}`
}

/** Null for one that is not whole. */
export function readLink(fragment: string): InvitationLink | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''))
  const [server, workspace, first, by] = FIELDS.map((name) => fields.get(name) || null)
  return server && workspace && first && by ? { server, workspace, first, by } : null
}
