/**
 * Signed workspaces: state that is trusted because its members signed it. The server that stores it need not be
 * trusted. No I/O and no clock: it turns texts into a verified state or a `Refusal`, on servers, in workers and in
 * browsers.
 */
export { makeBinding, requireBinding } from './binding.ts'
export {
  extend,
  type LinkChange,
  readFirstHash,
  readLink,
  replay,
  requireContinues,
  signLink,
} from './chain.ts'
export { type End, endOf } from './ended.ts'
export { isPath as isReleasePath, isSignedId } from './fields.ts'
export {
  type Identity,
  identityFingerprint,
  identityOf,
  type PublicIdentity,
  proveKeys,
  requireKeyProof,
  type ShownKeys,
} from './identity.ts'
export { type MemberChange, mayChangeMember } from './member_rules.ts'
export { Refusal } from './refusal.ts'
export { hashOf, readText, type SignedText, signText } from './signed_text.ts'
export { type Chain, emptyChain, isRekeyDue } from './state.ts'
export {
  GRANT_GRACE_MS,
  headSeqOf,
  isSameGrant,
  manifestRoot,
  type Rows,
  requireWriterNow,
  type SeenManifest,
  verifyEnvelope,
  verifyGrant,
  verifyManifest,
  verifyRelease,
} from './statements.ts'
export {
  type HeldRelease,
  isSameNarrowing,
  type Link,
  type Member,
  type Narrowing,
  readNarrowing,
  type TextOf,
  type TokenGrant,
} from './texts.ts'
