import { serverCommand } from '../../command.ts'

export default serverCommand(
  {
    usage: 'self-check',
  },
  async (_, isJson) => {
    const { checkInstallation } = await import('../../../operator/checks/self_check.ts')
    return checkInstallation(certificate, isJson)
  },
)

/** A fresh token for the servers of its test calls. */
async function certificate() {
  const { HOST } = await import('../../../operator/checks/tls.ts')
  const { createAuthority } = await import('../../demo/certificates.ts')
  const authority = await createAuthority('Cloakroom self-check')
  return { authority: authority.certificate, ...(await authority.issue([HOST])) }
}
