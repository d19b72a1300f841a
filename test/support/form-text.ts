const START = '--form\r\n'

/** The type of a {@link formText}. */
export const FORM_TYPE = 'multipart/form-data; boundary=form'

/** A form with a file, as it is sent. */
export const formText = (content = 'hello', name = 'a.txt'): string =>
  `${START}content-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: text/plain\r\n\r\n${content}\r\n--form--\r\n`

/** Whether a body is one. */
export const isFormText = (body: unknown): boolean => typeof body === 'string' && body.startsWith(START)
