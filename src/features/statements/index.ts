/** What members of signed workspaces sign besides links: demanded, checked and stored with what it speaks of. */
export { accepted, refused, requireSigned } from './accepting.ts'
export {
  acceptEnvelope,
  acceptGrant,
  type GrantedToken,
  grantAgain,
  grantedColumns,
  requireSameGrant,
  type StoredStatement,
  selectGrant,
  storeGrant,
} from './grants.ts'
export { acceptManifest, judgeManifest, noteOf, readSigned, selectManifest } from './manifests.ts'
