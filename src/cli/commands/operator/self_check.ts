/** `cloakroom self-check`, with a certificate of this moment for the servers that it tries its calls with. */
import { checkInstallation as run } from '../../../operator/self_check/index.ts'
import { HOST } from '../../../operator/self_check/tls.ts'
import { createAuthority } from '../../demo/certificates.ts'

export async function runSelfCheck(json = false): Promise<number> {
  const certificate = async () => {
    const authority = await createAuthority('Cloakroom self-check')
    return { authority: authority.certificate, ...(await authority.issue([HOST])) }
  }
  return run(certificate, json)
}
