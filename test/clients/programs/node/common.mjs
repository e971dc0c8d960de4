/** Code that the Node.js programs share: the first argument names the action, and an error is printed as its library words it. */
export const { API_URL, API_KEY, FILE } = process.env
export const headers = { authorization: `Bearer ${API_KEY}` }

export async function main(actions) {
  try {
    await actions[process.argv[2]]()
  } catch (error) {
    const { status, statusCode, body, response } = error
    console.error(
      status ?? statusCode ?? '',
      error.message,
      body ?? response?.data ?? response?.body ?? '',
    )
    console.error(error.cause ?? '')
    process.exit(1)
  }
}

/** For libraries that treat an error status as an ordinary answer. */
export function checked(status, text) {
  if (status >= 400) throw new Error(`${status}: ${text}`)
  return text
}

/** Prints each piece as it arrives. */
export async function show(stream) {
  const decoder = new TextDecoder()
  for await (const piece of stream) process.stdout.write(decoder.decode(piece, { stream: true }))
}
