use strict;
use warnings;
use Furl;

$| = 1;
my ($url, $path) = @ENV{qw(API_URL FILE)};
my @headers = (Authorization => "Bearer $ENV{API_KEY}");
# Furl reads HTTP_PROXY only, and trusts its own bundle.
my $trust = $ENV{SSL_CERT_FILE} ? { SSL_ca_file => $ENV{SSL_CERT_FILE} } : {};
my $agent = Furl->new(proxy => $ENV{HTTPS_PROXY} // '', ssl_opts => $trust);

# An error status is an answer like others.
sub checked {
    my ($answer) = @_;
    die $answer->status_line . ': ' . $answer->content . "\n" unless $answer->is_success;
    print $answer->content;
}

my %actions = (
    call => sub { checked($agent->get("$url/things", \@headers)) },
    stream => sub {
        $agent->request(method => 'GET', url => "$url/events", headers => \@headers,
            write_code => sub { my ($status, $message, $given, $piece) = @_; print $piece });
    },
    upload => sub {
        open my $file, '<:raw', $path or die $!;
        local $/;
        checked($agent->put("$url/files/1", \@headers, <$file>));
    },
);
$actions{ $ARGV[0] }->();
