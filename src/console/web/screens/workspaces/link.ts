/** An invitation link. The invited user's first view of the workspace must match it. */

/** `first` is the hash of the workspace's first signed change, and `by` is the inviter's email. */
export type InvitationLink = { server: string; workspace: string; first: string; by: string }

const FIELDS = ['server', 'workspace', 'first', 'by'] as const
/** The formats keep a link from showing a sentence that someone wrote into it. */
const FORMS: InvitationLinkForms = {
  server: (text) => URL.parse(text)?.origin === text,
  workspace: (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text),
  first: (text) => /^[\w-]{43}$/.test(text),
  by: (text) => text.length <= 254 && /^[!-?A-~]+@[\da-z.-]+$/.test(text),
}
type InvitationLinkForms = Record<keyof InvitationLink, (text: string) => boolean>

export function linkOf(link: InvitationLink): string {
  const fields = new URLSearchParams(FIELDS.map((name) => [name, link[name]]))
  return `${new URL(link.server).origin}/console/invitation#${fields}`
}

/** Null for an incomplete or malformed link. */
export function readInvitationLink(fragment: string): InvitationLink | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''))
  const [server, workspace, first, by] = FIELDS.map((name) => fields.get(name) || null)
  if (!(server && workspace && first && by)) return null
  const link = { server, workspace, first, by }
  return FIELDS.every((name) => FORMS[name](link[name])) ? link : null
}
