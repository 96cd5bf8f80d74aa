import { formOf } from '../http/forms.js';

export class SignInForm extends formOf({ email: 'E-mail address', password: 'Password' }) {}
